"""`longseq score VCF --reference FASTA`"""

from __future__ import annotations

import logging
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longseq.cli import exit, sharding
from longseq.cli.fitting import given, refuse
from longseq.cli.line import request_line
from longseq.cli.sharding import Shards
from longseq.cli.sources import provenance, verdict
from longseq.cli.talk import Talk
from longseq.errors import UsageError
from longseq.log import count

if TYPE_CHECKING:
    from longseq.tasks.shards.gather import Batch
    from longseq.tasks.summarize.model import LoadedModel
    from longseq.tasks.variants import VariantAnswers, VariantRequest

log = logging.getLogger("longseq")

OF_RECORDS = ("track", "track_format", "region", "strict", "snapshot_every", "state", "save_state")
"""Options that speak of whole records, as does --strands."""
OF_VARIANTS = ("context", "longest_allele")
"""Options that speak of variants."""


def require_fitting(context: click.Context, *, of_variants: bool) -> None:
    """Raises UsageError: an option was given that the other of the two does not have."""
    if of_variants:
        refuse(context, ["strands"], "--reference", "leave it out: both strands are always read")
        refuse(context, OF_RECORDS, "--reference", "leave it out")
    else:
        for option in given(context, OF_VARIANTS):
            raise UsageError(f"{option} needs --reference", remedy="give the reference as well")


def request_of(
    inputs: tuple[str, ...],
    reference: str,
    alias: tuple[tuple[str, str], ...],
    context: int | None,
    longest: int | None,
    on_unknown: Any,
) -> VariantRequest:
    from longseq.tasks.variants import VariantRequest

    if len(inputs) != 1:
        raise UsageError(
            where="--reference", expected="one VCF or BCF", found=count(len(inputs), "file"), remedy="run one at a time"
        )
    figures = {"context": context, "longest": longest}
    return VariantRequest(
        variants=inputs[0],
        reference=reference,
        alias=alias,
        on_unknown=on_unknown,
        **{name: value for name, value in figures.items() if value is not None},
    )


def run(
    request: VariantRequest,
    loaded: LoadedModel,
    talk: Talk,
    *,
    out: str | None,
    as_json: bool,
    resume: bool,
    force: bool,
) -> int:
    """Score, write, and say what there was; the exit code."""
    from longseq.tasks.variants import VariantRun, results
    from longseq.training.signals import StopRequest

    began = time.monotonic()
    line = request_line(click.get_current_context())
    if out is None and resume:
        raise UsageError("--resume needs --out FILE")
    if out is not None and as_json:
        raise UsageError("--json goes to stdout", remedy="leave --out out")
    if out is not None:
        results.free_output(out, force=force or resume)
    with VariantRun(request, loaded) as work:
        for note in work.notes:
            log.warning("%s", note)
        if out is None:
            work.score(progress=talk.progress())
            if as_json:
                facts = provenance(talk, [loaded], work.sources, time.monotonic() - began)
                results.write_json(work, sys.stdout, replace(facts, tokens=work.tokens))
            else:
                results.write_vcf(work, sys.stdout.buffer, command=line)
                sys.stdout.buffer.flush()
            return verdict(work.sources)
        if resume and results.finished(work, out):
            results.settle(work, out)
            click.echo(f"{out}: is done already")
            return exit.DONE
        work.scores.open(Path(out).resolve(), work.settings(), resume=resume, force=force)
        done = False
        try:
            with StopRequest() as stop:
                work.score(stop=stop, progress=talk.progress())
            results.write(work, out, command=line, force=force)
            done = True
        finally:
            work.scores.close(keep=not done)
        click.echo(f"{out}: {_line(work)}")
        return verdict(work.sources)


def sharded(
    request: VariantRequest,
    load: Callable[[], LoadedModel],
    shards: Shards,
    talk: Talk,
    *,
    out: str,
    force: bool,
) -> int:
    """One shard of rows, or all of them and the whole; the exit code."""
    from longseq.tasks.shards.attempt import Attempt
    from longseq.tasks.shards.cut import VARIANTS
    from longseq.tasks.shards.order import Reading
    from longseq.tasks.variants import VariantRun, results, shard
    from longseq.tasks.variants.merge import KINDS

    attempt = Attempt(shlex.join(["longseq", *talk.arguments]))
    if request.reference == "-":
        raise UsageError("each shard reads the reference", where="--reference -", remedy="write it to a file first")
    if shards.jobs is not None:
        results.free_output(out, force=force)
        return sharding.run_jobs(
            shards,
            [request.variants],
            Reading(kind=VARIANTS, on_unknown=request.on_unknown),
            out,
            lambda batch: play(batch, out, force=force, talk=talk),
            talk=talk,
        )
    loaded = load()
    attempt.read_by(loaded)
    line = request_line(click.get_current_context())
    with VariantRun(request, loaded) as work:
        return sharding.run_shard(
            shards,
            shard.order_of(work),
            out,
            KINDS,
            lambda made, _: shard.fill(made, work, line, talk.progress()),
            attempt=attempt,
            force=force,
            talk=talk,
        )


def play(batch: Batch, out: str, *, force: bool, talk: Talk) -> int:
    """Write the answers of a batch, say what there was; the exit code."""
    from longseq.tasks.variants import results
    from longseq.tasks.variants.merge import Merged

    results.free_output(out, force=force)
    with Merged(batch) as work:
        for note in work.notes:
            log.warning("%s", note)
        results.write(work, out, command=batch.facts["command"], force=force)
        click.echo(f"{out}: {_line(work)}")
        return verdict(work.sources)


def _line(work: VariantAnswers) -> str:
    """`109 rows, 104 of 109 alleles scored from 414 windows; 5 too_long, 20 indel`."""
    scored, reasons = work.tally
    text = f"{count(work.rows, 'row')}, {scored:,} of {count(sum(reasons.values()), 'allele')} scored"
    text += f" from {count(len(work.scores), 'window')}"
    said = [f"{number:,} {reason}" for reason, number in reasons.most_common() if reason is not None]
    return "; ".join([text, ", ".join(said)]) if said else text
