"""`longseq classify INPUT…`"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from longseq.cli import sharding
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
    "--model", metavar="DIR", default="dna", help="Model with a head of your own: RUN/model of `longseq train`."
)
@click.option("--out", metavar="DIR", help="Write tables and regions there.  [default: the table goes to stdout]")
@click.option("--force", is_flag=True, help="Replace what an earlier run left in --out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--every", type=click.IntRange(0), help="Tokens between two running readings.  [default: 2048]")
@click.option("--window", type=click.IntRange(0), help="Tokens of a window read afresh; 0 for none.  [default: 2048]")
@click.option(
    "--evidence",
    type=click.IntRange(0),
    help="Sentences of a document that speak most for its class; 0 for none.  [default: 5]",
)
@click.option("--calibrate", metavar="LABELS", help="Fit probabilities to these labels of INPUT, and keep the fit.")
@reading()
@computing
@sharded
@talking
def command(
    inputs: tuple[str, ...],
    model: str,
    out: str | None,
    force: bool,
    as_json: bool,
    every: int | None,
    window: int | None,
    evidence: int | None,
    calibrate: str | None,
    asked: Callable[[], dict[str, Any]],
    device: str,
    threads: int,
    precision: str,
    chunk: int | None,
    shards: Shards,
    talk: Talk,
) -> int:
    """Classes of records, by a model that `longseq train --labels` made.

    The table has a row a record, or a stretch of one: its class, or `unknown` where it is out of the range of the
    records that the model was calibrated on. `unknown` has no probability: the class that comes nearest stands beside
    it, as it does everywhere, and the classes' probabilities share out what would be known. Then where along the record
    the class changes: for that, windows are read afresh, each as if it were a record. With --out, the running reading
    and the windows are tables of their own; of documents, --out and --json name the sentences that move the class most,
    with their offsets.

    Training calibrates by the records it holds out; --calibrate does it by others.
    """
    from longseq.errors import UsageError
    from longseq.formats.atomic import free_directory
    from longseq.formats.folders import files
    from longseq.streaming.hidden import HiddenReader
    from longseq.tasks import classify as task
    from longseq.tasks.classify import shard
    from longseq.tasks.classify.merge import KINDS
    from longseq.tasks.shards.attempt import Attempt, ReaderFacts
    from longseq.tasks.shards.order import Reading
    from longseq.tasks.summarize.model import load_checkpoint

    line = shlex.join(["longseq", *talk.arguments])
    attempt = Attempt(line)
    if calibrate is not None and (out is not None or as_json):
        raise UsageError("--calibrate writes into the model's folder", remedy="leave --out and --json out")
    told = {"every": every, "window": window, "evidence": evidence}
    given: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
    given |= {"every": 0, "window": 0, "evidence": 0} if calibrate is not None else {}
    request = task.Request(
        inputs=files(inputs),
        **asked(),
        **given,
    )
    if shards.asked:
        shards.refuse({"--region": bool(request.regions), "--json": as_json, "--calibrate": calibrate is not None})
    if shards.jobs is not None:
        assert out is not None
        target = out
        free_directory(target, force=force)
        read = Reading(column=request.column, on_unknown=request.on_unknown)
        return sharding.run_jobs(
            shards, request.inputs, read, target, lambda batch: play(batch, target, force=force, talk=talk), talk=talk
        )
    checkpoint = load_checkpoint(model, device=device, threads=threads)
    task.record_model(checkpoint)
    reader = HiddenReader(checkpoint, chunk=chunk, precision=precision)
    if calibrate is not None:
        fitted, sources = task.calibrate(request, reader, calibrate, talk.progress())
        said = f"temperature {fitted.temperature:.4g}, of {count(fitted.records, 'record')}"
        if fitted.error is not None:
            said += f"; calibration error {fitted.error:.3f} of records that a fit had not seen"
        click.echo(f"{checkpoint.path / 'calibration.json'}: {said}")
        return verdict(sources)
    if shards.shard is not None:
        assert out is not None
        attempt.read_by(ReaderFacts(checkpoint.name, checkpoint.sha256, device, precision, threads))
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
    sources = task.classify(
        request,
        reader,
        out=out,
        table=sys.stdout if out is None and not as_json else None,
        as_json=sys.stdout if as_json else None,
        command=line,
        force=force,
        progress=talk.progress(),
    )
    return verdict(sources) if out is None or as_json else _told(out, sources)


def play(batch: Batch, out: str, *, force: bool, talk: Talk) -> int:
    """Write the folder of a batch, say what there was; the exit code."""
    from longseq.tasks.classify.merge import merge

    line = shlex.join(["longseq", *talk.arguments])
    return _told(out, [source.row() for source in merge(batch, out, command=line, force=force)])


def _told(out: str, sources: list[SourceRow]) -> int:
    click.echo(f"{out}: {count(sum(source.records for source in sources), 'record')}")
    return verdict(sources)
