"""`longseq annotate INPUT --out DIR`"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from longseq.cli import exit, sharding
from longseq.cli.options import computing, reading, talking
from longseq.cli.sharding import Shards, sharded
from longseq.cli.sources import provenance, verdict
from longseq.cli.talk import Talk
from longseq.log import count

if TYPE_CHECKING:
    from longseq.results.source import SourceRow
    from longseq.tasks.shards.gather import Batch

GENES = ("genetic_code", "min_gene", "mixed")
"""Options that speak of genes only."""
INTERVALS = ("min_length", "threshold")
"""Options that speak of intervals only."""


@click.command()
@click.argument("source", metavar="INPUT")
@click.option("--genes", "wanted", is_flag=True, help="Find the genes of bacteria and archaea.")
@click.option(
    "--model",
    metavar="DIR|NAME",
    help="Model of each base's class, as train --task annotate makes.  [default: with --genes, genes]",
)
@click.option("--out", metavar="DIR", required=True, help="Write the results there.")
@click.option("--force", is_flag=True, help="Replace what an earlier run left in --out, or a run that was stopped.")
@click.option("--resume", is_flag=True, help="Go on behind the last finished record, or begin where there is none.")
@click.option(
    "--genetic-code",
    type=int,
    default=11,
    show_default=True,
    help="With --genes: NCBI's number, 4 for mycoplasmas.",
)
@click.option(
    "--min-gene", type=int, default=90, show_default=True, help="With --genes: bases of a gene, stop codon included."
)
@click.option("--mixed", is_flag=True, help="With --genes: the records are not of one genome, as in a metagenome.")
@click.option("--min-length", type=click.IntRange(1), default=1, show_default=True, help="Bases of an interval.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Least mean probability of an interval.",
)
@reading(tables=False)
@computing
@sharded
@talking
@click.pass_context
def command(
    ctx: click.Context,
    source: str,
    wanted: bool,
    model: str | None,
    out: str,
    force: bool,
    resume: bool,
    genetic_code: int,
    min_gene: int,
    mixed: bool,
    min_length: int,
    threshold: float,
    asked: Callable[[], dict[str, Any]],
    device: str,
    threads: int,
    precision: str,
    chunk: int | None,
    shards: Shards,
    talk: Talk,
) -> int:
    """Class probabilities of every base and the intervals that they make, or genes.

    INPUT is a file in any of FASTA, FASTQ, GenBank, EMBL, 2bit, BAM, CRAM, SAM, as it is or packed, or `-` for
    standard input. The model reads each record and its reverse complement from end to end, without seams; the
    probabilities are averaged, those of classes `name+` and `name-` crosswise.

    Results go by name: reads of a pair, which have one, are called NAME/1 and NAME/2, and regions lie apart.

    DIR gets tracks/CLASS.bw (bigWig, float32, a gap where a base is N), intervals.bed (name, score, strand, mean
    probability in column 7), intervals.gff3, records.tsv and annotation.json. An interval is a run of bases of which
    one class is the likeliest; the background, the first class, makes none, and neither does N. Of a record that the
    file calls circular one may cross the origin: in GFF3 it ends behind the record's end, in BED it has two lines.

    With --genes DIR gets genes.gff3, genes.bed, proteins.faa, records.tsv and genes.json: open reading frames, scored
    by the model's probabilities of the position in the codon and, where there are enough genes, by the codons and
    starts of the surest of them, and chosen so that they overlap no more than genes do. A record that is declared
    circular has genes across its origin.

    TERM, USR1 or Ctrl-C stop a run; --resume goes on behind the last finished record, after a kill as well, with the
    tables and tracks of a run that was never stopped. Two runs never write to one --out.
    """
    passed = _given(ctx, INTERVALS if wanted else GENES)
    if passed:
        raise click.UsageError(f"{passed} speaks of {'intervals, not of genes' if wanted else 'genes: add --genes'}")
    if model is None and not wanted:
        raise click.UsageError(
            "--model is missing: which classes? `longseq train --task annotate` makes one; or --genes"
        )
    if resume and (force or source == "-"):
        other = "standard input" if source == "-" else "--force"
        raise click.UsageError(f"--resume and {other} exclude each other")
    model = model or "genes"
    from longseq.formats.atomic import free_directory
    from longseq.results.run import Run
    from longseq.streaming.classes import ClassReader
    from longseq.tasks.annotate import shard
    from longseq.tasks.annotate.merge import KINDS
    from longseq.tasks.annotate.predict import GeneRequest, predict_genes
    from longseq.tasks.annotate.run import Request, annotate
    from longseq.tasks.annotate.work import ANNOTATE
    from longseq.tasks.shards.attempt import Attempt, ReaderFacts
    from longseq.tasks.shards.order import Reading
    from longseq.tasks.summarize.model import load_checkpoint
    from longseq.tasks.working import finished_as, forget

    began, attempt = time.monotonic(), Attempt(shlex.join(["longseq", *talk.arguments]))
    request: Request | GeneRequest
    if wanted:
        request = GeneRequest(source=source, code=genetic_code, shortest=min_gene, mixed=mixed, **asked())
    else:
        request = Request(source=source, shortest=min_length, threshold=threshold, **asked())
    if shards.asked:
        shards.refuse({"--region": bool(request.regions), "--resume": resume})
    if not resume and shards.shard is None:
        free_directory(out, force=force)
    if shards.jobs is not None:
        read = Reading(on_unknown=request.on_unknown)
        return sharding.run_jobs(
            shards, [source], read, out, lambda batch: play(batch, out, force=force, talk=talk), talk=talk
        )
    checkpoint = load_checkpoint(model, device=device, threads=threads)
    reader = ClassReader(checkpoint, chunk=chunk, precision=precision)

    if shards.shard is not None:
        attempt.read_by(ReaderFacts(model, checkpoint.sha256, device, precision, threads))
        return sharding.run_shard(
            shards,
            shard.order_of(request, reader),
            out,
            KINDS,
            lambda made, _: shard.fill(made, request, reader, talk.progress()),
            attempt=attempt,
            force=force,
            talk=talk,
        )

    def facts(row: SourceRow) -> Run:
        run = provenance(talk, [], [row], time.monotonic() - began)
        run = replace(run, model=model, model_sha256=checkpoint.sha256)
        return replace(run, device=device, precision=precision, threads=threads)

    told = "genes.json" if wanted else "annotation.json"
    if resume and finished_as(out, told, request.settings(reader), within="settings"):
        forget(out, ANNOTATE)
        click.echo(f"{out}: is done already")
        return exit.DONE
    given: Any = {"provenance": facts, "resume": resume, "force": force, "progress": talk.progress()}
    if isinstance(request, GeneRequest):
        row, number = predict_genes(request, reader, out, **given)
    else:
        row, number = annotate(request, reader, out, **given)
    return _told(out, row, number, genes=wanted)


def play(batch: Batch, out: str, *, force: bool, talk: Talk) -> int:
    """Write the folder of a batch, say what there was; the exit code."""
    from longseq.tasks.annotate.merge import merge

    line = shlex.join(["longseq", *talk.arguments])
    row, number = merge(batch, out, provenance=lambda _: batch.run(line), force=force)
    return _told(out, row, number, genes=batch.request["genes"])


def _told(out: str, row: SourceRow, number: int, *, genes: bool) -> int:
    found = count(number, "gene" if genes else "interval")
    click.echo(f"{out}: {count(row.records, 'record')}, {count(row.length, 'base')}, {found}")
    return verdict([row])


def _given(ctx: click.Context, names: tuple[str, ...]) -> str:
    """The first of these options that the user gave."""
    for name in names:
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            return f"--{name.replace('_', '-')}"
    return ""
