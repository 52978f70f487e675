"""`longseq embed INPUT…`"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from longseq.cli import sharding
from longseq.cli.line import request_line
from longseq.cli.options import computing, reading, talking
from longseq.cli.sharding import Shards, sharded
from longseq.cli.sources import verdict
from longseq.cli.talk import Talk
from longseq.log import count

if TYPE_CHECKING:
    from longseq.results.source import SourceRow
    from longseq.tasks.shards.gather import Batch


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option(
    "--model",
    metavar="NAME|DIR",
    help="Model that reads the inputs.  [default: dna, or text where INPUT is a document]",
)
@click.option("--out", metavar="FILE", required=True, help="Parquet file to write.")
@click.option("--npy", metavar="FILE", help="Write the vectors alone there as well, in the same order.")
@click.option("--force", is_flag=True, help="Replace these files.")
@click.option(
    "--per",
    "--by",
    "per",
    type=click.Choice(["record", "document", "section", "sentence", "base", "token"]),
    default="record",
    show_default=True,
    help="What a vector is of; sections and sentences are those of documents.",
)
@click.option("--window", type=click.IntRange(1), help="A vector every so many bases, or tokens, of a record.")
@click.option("--layer", default="final", show_default=True, help="final, 0 or embedding, 1 or layer1, and so on.")
@click.option(
    "--pool",
    type=click.Choice(["mean", "last", "max"]),
    default="mean",
    show_default=True,
    help="How the vectors of tokens become one.",
)
@click.option("--normalize", is_flag=True, help="Scale each vector to a length of 1.")
@click.option(
    "--strands",
    type=click.Choice(["forward", "both"]),
    help="Read forwards only, or the mean of both strands.  [default: both of DNA read by letter]",
)
@click.option("--most", type=click.IntRange(1), help="Vectors of bases or tokens at most.  [default: 1000000]")
@reading()
@computing
@sharded
@talking
def command(
    inputs: tuple[str, ...],
    model: str | None,
    out: str,
    npy: str | None,
    force: bool,
    per: Any,
    window: int | None,
    layer: str,
    pool: Any,
    normalize: bool,
    strands: Any,
    most: int | None,
    asked: Callable[[], dict[str, Any]],
    device: str,
    threads: int,
    precision: str,
    chunk: int | None,
    shards: Shards,
    talk: Talk,
) -> int:
    """Vectors of sequences and documents, from any layer of a model, as a table.

    A row has file, record, start, end, strand, layer, the model's sha256 and the vector, null where there is no A, C, G
    or T; of sections and sentences also the titles of their sections. Windows begin at the record's start and count
    what the model reads: bases, or tokens of words; start and end are 0-based and half-open, in bases or letters. Rows
    are written as they come, so that memory does not grow with the input; the file appears when all are there.
    """
    from longseq.errors import UsageError
    from longseq.formats.folders import files
    from longseq.streaming.hidden import HiddenReader
    from longseq.tasks.embed import Request, embed, shard
    from longseq.tasks.embed.merge import KINDS
    from longseq.tasks.embed.table import free_files
    from longseq.tasks.shards.attempt import Attempt, ReaderFacts
    from longseq.tasks.shards.order import Reading
    from longseq.tasks.summarize.model import default_model, load_checkpoint

    attempt = Attempt(shlex.join(["longseq", *talk.arguments]))
    if window is not None and per not in ("record", "document"):
        raise UsageError(f"--window and --per {per} exclude each other", remedy="give one of them")
    given: dict[str, Any] = asked() | ({} if most is None else {"most": most})
    inputs = files(inputs)
    request = Request(
        inputs=inputs,
        per="window" if window is not None else {"token": "base", "document": "record"}.get(per, per),
        window=window or 0,
        layer=layer,
        pool=pool,
        normalize=normalize,
        strands=strands,
        **given,
    )
    line = request_line(click.get_current_context())
    if shards.asked:
        shards.refuse({"--region": bool(request.regions), "--npy": npy is not None and shards.shard is not None})
    if shards.jobs is not None:
        free_files(out, npy, force=force)
        read = Reading(column=request.column, on_unknown=request.on_unknown)
        return sharding.run_jobs(
            shards, inputs, read, out, lambda batch: play(batch, out, force=force, talk=talk, npy=npy), talk=talk
        )
    checkpoint = load_checkpoint(model or default_model(inputs), device=device, threads=threads)
    if shards.shard is not None:
        reader = HiddenReader(checkpoint, layer=request.layer, chunk=chunk, precision=precision)
        attempt.read_by(ReaderFacts(checkpoint.name, checkpoint.sha256, device, precision, threads))
        return sharding.run_shard(
            shards,
            shard.order_of(request, reader),
            out,
            KINDS,
            lambda made, _: shard.fill(made, request, reader, line, talk.progress()),
            attempt=attempt,
            force=force,
            talk=talk,
        )
    sources, rows = embed(
        request,
        checkpoint,
        out,
        npy=npy,
        chunk=chunk,
        precision=precision,
        command=line,
        force=force,
        progress=talk.progress(),
    )
    return _told(out, sources, rows)


def play(batch: Batch, out: str, *, force: bool, talk: Talk, npy: str | None = None) -> int:
    """Write the table of a batch, say what there was; the exit code."""
    from longseq.tasks.embed.merge import merge

    sources, rows = merge(batch, out, npy=npy, force=force)
    return _told(out, [source.row() for source in sources], rows)


def _told(out: str, sources: list[SourceRow], rows: int) -> int:
    click.echo(f"{out}: {count(rows, 'vector')} of {count(sum(source.records for source in sources), 'record')}")
    return verdict(sources)
