"""`longseq score INPUT…`"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from longseq.cli import exit, sharding
from longseq.cli.options import computing, reading, talking
from longseq.cli.sharding import Shards, sharded
from longseq.cli.sources import provenance, verdict
from longseq.cli.talk import Talk
from longseq.log import count

if TYPE_CHECKING:
    from longseq.tasks.score.request import Request
    from longseq.tasks.score.write import Result
    from longseq.tasks.shards.gather import Batch
    from longseq.tasks.summarize.model import LoadedModel


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--model", metavar="NAME|DIR", default="dna", show_default=True, help="Model that reads DNA.")
@click.option(
    "--out",
    metavar="PATH",
    help="Write scores.tsv there; with --reference a file, .vcf, .vcf.gz or .tsv.  [default: stdout]",
)
@click.option("--force", is_flag=True, help="Replace what an earlier run left in --out, or a run that was stopped.")
@click.option("--track", is_flag=True, help="Write the bits of every token in --out.")
@click.option(
    "--track-format",
    type=click.Choice(["npy", "bw"]),
    default="npy",
    show_default=True,
    help="bits.npy, or a bigWig a strand.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--strands",
    type=click.Choice(["forward", "both"]),
    default="forward",
    show_default=True,
    help="Score the reverse complement as well, in a row of its own.",
)
@reading(tables=False)
@click.option("--resume", is_flag=True, help="Go on from the last snapshot, or begin where there is none.")
@click.option("--snapshot-every", type=click.IntRange(1), help="Tokens between two snapshots.  [default: 10000000]")
@click.option("--reference", metavar="FASTA", help="INPUT is a VCF or BCF against this: score its alleles.")
@click.option("--context", type=click.IntRange(1), help="Bases on either side of an allele.  [default: 500]")
@click.option("--longest-allele", type=click.IntRange(1), help="Bases up to which one is scored.  [default: 1000]")
@click.option("--state", metavar="FILE", help="A saved state: the one record goes on from there.")
@click.option("--save-state", metavar="FILE", help="Save the state after the one record.")
@computing
@sharded
@talking
def command(
    inputs: tuple[str, ...],
    model: str,
    out: str | None,
    force: bool,
    track: bool,
    track_format: Any,
    as_json: bool,
    strands: Any,
    asked: Callable[[], dict[str, Any]],
    resume: bool,
    snapshot_every: int | None,
    reference: str | None,
    context: int | None,
    longest_allele: int | None,
    state: str | None,
    save_state: str | None,
    device: str,
    threads: int,
    precision: str,
    chunk: int | None,
    shards: Shards,
    talk: Talk,
) -> int:
    """What each record costs under a model, in bits, each base scored from all bases before it.

    An INPUT is a file in any of FASTA, FASTQ, GenBank, EMBL, 2bit, BAM, CRAM, SAM, as it is or packed by gzip, bgzip,
    bzip2, xz or zstd, or `-` for standard input. The table has a row a record and strand: its length, the bases A, C, G
    and T that are scored, their bits in all and a base, and beside those the bits a base of adaptive Markov models of
    order 2 and 6, which know nothing but the record. bits.npy holds float32 bits of every base, NaN where it is none of
    those, row after row in the order of the table, at the bases' places in the record on either strand;
    bits_forward.bw and bits_reverse.bw hold the same by name and place.

    With --out, a run takes snapshots; TERM, USR1 or Ctrl-C take one more and stop. --resume goes on, with the bytes of
    a run that was never stopped; of a run that is done already it says so. Two runs never write to one --out.

    With --reference, INPUT is one VCF or BCF. Each alternative allele gets the log-likelihood ratio alternative minus
    reference, in nats, mean of both strands, in INFO as LONGSEQ_LLR; what has none gets a reason. Rows come out as
    they went in; a REF that is not what stands in the reference is named, and the exit code is 3.
    """
    from longseq.cli import variants
    from longseq.errors import UsageError
    from longseq.tasks.score.request import Request
    from longseq.tasks.score.run import finished, scored
    from longseq.tasks.summarize.model import load_model
    from longseq.tasks.working import forget

    began = time.monotonic()
    if shards.asked:
        one = {"--state": state is not None, "--save-state": save_state is not None}
        shards.refuse({"--json": as_json, "--resume": resume, **one})
    if resume and force:
        raise UsageError("--resume and --force exclude each other", remedy="give one of them")
    variants.require_fitting(click.get_current_context(), of_variants=reference is not None)
    given = asked()

    def loaded() -> LoadedModel:
        return load_model(model, device=device, threads=threads, precision=precision, chunk=chunk)

    if reference is not None:
        told = variants.request_of(inputs, reference, given["alias"], context, longest_allele, given["on_unknown"])
        if shards.asked and out is not None:
            return variants.sharded(told, loaded, shards, talk, out=out, force=force)
        return variants.run(told, loaded(), talk, out=out, as_json=as_json, resume=resume, force=force)
    given |= {} if snapshot_every is None else {"every": snapshot_every}
    request = Request(
        inputs=inputs,
        strands=strands,
        track=track,
        track_format=track_format,
        state=state,
        save_state=save_state,
        **given,
    )
    if shards.asked and out is not None:
        return _sharded(request, loaded, shards, talk, out=out, force=force)
    reader = loaded()
    if resume and out is not None and not as_json and finished(request, reader, out):
        forget(out)
        click.echo(f"{out}: is done already")
        return exit.DONE
    line = shlex.join(["longseq", *talk.arguments])
    with scored(request, reader, out=out, command=line, resume=resume, force=force, progress=talk.progress()) as result:
        if as_json:
            result.write_json(sys.stdout, provenance(talk, [reader], result.sources, time.monotonic() - began))
        elif out is None:
            result.write_table(sys.stdout)
        else:
            click.echo(f"{out}: {_line(result)}")
        return verdict(result.sources)


def _sharded(
    request: Request, load: Callable[[], LoadedModel], shards: Shards, talk: Talk, *, out: str, force: bool
) -> int:
    from longseq.formats.atomic import free_directory
    from longseq.tasks.score import shard
    from longseq.tasks.score.merge import KINDS
    from longseq.tasks.shards.attempt import Attempt
    from longseq.tasks.shards.order import Reading

    attempt = Attempt(shlex.join(["longseq", *talk.arguments]))
    shards.refuse({"--region": bool(request.regions)})
    if shards.jobs is not None:
        free_directory(out, force=force)
        return sharding.run_jobs(
            shards,
            request.inputs,
            Reading(on_unknown=request.on_unknown),
            out,
            lambda batch: play(batch, out, force=force, talk=talk),
            talk=talk,
        )
    loaded = load()
    attempt.read_by(loaded)
    return sharding.run_shard(
        shards,
        shard.order_of(request, loaded),
        out,
        KINDS,
        lambda made, _: shard.fill(made, request, loaded, talk.progress()),
        attempt=attempt,
        force=force,
        talk=talk,
    )


def play(batch: Batch, out: str, *, force: bool, talk: Talk) -> int:
    """Write the folder of a batch, say what there was; the exit code."""
    from longseq.tasks.score.merge import merged

    line = shlex.join(["longseq", *talk.arguments])
    with merged(batch, out, command=line, force=force) as result:
        click.echo(f"{out}: {_line(result)}")
        return verdict(result.sources)


def _line(result: Result) -> str:
    """`2 rows, 10,000 tokens scored, 1.9312 bits per token (adaptive order2 1.9701, order6 1.9888)`."""
    from longseq.metrics.nulls import COLUMNS

    rows = tokens = 0
    bits, nulls = 0.0, dict.fromkeys(COLUMNS, 0.0)
    for row in result.rows():
        rows, tokens, bits = rows + 1, tokens + row["tokens"], bits + row["bits"]
        nulls = {name: total + row["tokens"] * (row[name] or 0.0) for name, total in nulls.items()}
    text = f"{count(rows, 'row')}, {count(tokens, 'token')} scored"
    if not tokens:
        return text
    text += f", {bits / tokens:.4f} bits per token"
    beside = ", ".join(f"{name} {total / tokens:.4f}" for name, total in nulls.items() if total)
    return text + (f" (adaptive {beside})" if beside else "")
