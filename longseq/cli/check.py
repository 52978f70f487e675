"""`longseq check MODEL` and `longseq check --mixer NAME`"""

from __future__ import annotations

import logging
import shlex
import time
from typing import TYPE_CHECKING

import click

from longseq.cli import exit
from longseq.cli.leaving import leaving
from longseq.cli.options import device_option, plots_option, talking, threads_option
from longseq.cli.talk import MUCH, Talk
from longseq.errors import UsageError

if TYPE_CHECKING:
    from longseq.results.run import Run
    from longseq.tasks.check.subject import Subject

log = logging.getLogger("longseq")

LONGEST = 1 << 20
"""Tokens: that of `tasks.check.run`, which is not imported for a page of help."""


@click.command()
@click.argument("model", required=False)
@click.option(
    "--mixer", "mixers", metavar="NAME", multiple=True, help="Check a small random model of this mixer; all: of each."
)
@click.option("--feature-map", metavar="NAME", help="Feature map of the random models.")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Their settings: model.heads=4.")
@click.option(
    "--length",
    type=click.IntRange(64, LONGEST),
    help="Tokens of the longest reading.  [default: 16384; 2048 where the state grows]",
)
@click.option(
    "--long-sum",
    metavar="TOKENS",
    type=click.IntRange(1),
    help="Tokens over which a memory of elu+1 is summed; 100000000 takes minutes.  [default: 64 × length]",
)
@threads_option
@device_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--out", metavar="DIR", help="Write check.json and a page, check.html, there.")
@plots_option
@click.option("--force", is_flag=True, help="Replace what stands in --out.")
@talking
def command(
    model: str | None,
    mixers: tuple[str, ...],
    feature_map: str | None,
    assignments: tuple[str, ...],
    length: int | None,
    long_sum: int | None,
    threads: int,
    device: str,
    as_json: bool,
    out: str | None,
    plots: tuple[str, ...],
    force: bool,
    talk: Talk,
) -> int:
    """Prove the laws of the method on this machine and device.

    MODEL is a checkpoint directory or the name of a shipped one. Each law is tried in many cases; its worst figure
    stands beside its limit. Parallel and recurrent reading agree wherever time is cut, in tiles of any size, padded on
    any side, rescaled or not, in half precision, over growing lengths. Exit code 1: a law is broken.

    The law "long sum" adds up the memory of plain linear attention (elu + 1) and sets it beside float64: with
    --long-sum 100000000 it proves that a token still counts at the hundred-millionth.
    """
    if (model is None) == (not mixers):
        raise UsageError("what is to be checked: a MODEL or --mixer", remedy="give one of them, such as check dna")
    if model is not None and (feature_map or assignments):
        raise UsageError("a MODEL has its own settings", remedy="--feature-map and --set go with --mixer")
    from longseq.formats.jsonfile import to_json
    from longseq.ops.machine import prepare
    from longseq.report.check import broken_text, check_text
    from longseq.report.check_page import check_page
    from longseq.report.plots.check import save_check
    from longseq.tasks.check.run import check
    from longseq.tasks.check.subject import checkpoint, mixer_names, opened, random_model

    prepare(threads)
    began = time.monotonic()
    if model is not None:
        subjects = [checkpoint(model, device)]
    else:
        names = mixer_names() if "all" in mixers else list(dict.fromkeys(mixers))
        subjects = [random_model(name, feature_map, assignments, device) for name in names]
    subjects += [one for subject in subjects for one in opened(subject)]
    with leaving("check", out, plots, force=force) as folder:
        outcome = check(subjects, length, progress=talk.progress(), long_sum=long_sum)
        run = _run(talk, subjects, device, threads, time.monotonic() - began)
        if folder is not None:
            folder.write(outcome.to_json(run), check_page(outcome, run))
            if plots:
                save_check(folder.plots, plots, outcome)
    if as_json:
        click.echo(to_json(outcome.to_json(run)))
    else:
        click.echo(check_text(outcome, verbose=talk.verbosity >= MUCH), nl=False)
    for law in outcome.broken:
        log.error("%s", broken_text(law))
    return exit.DONE if outcome.ok else exit.BAD_DATA


def _run(talk: Talk, subjects: list[Subject], device: str, threads: int, seconds: float) -> Run:
    from longseq import __version__
    from longseq.results.run import Run, peak_rss_mb

    return Run(
        version=__version__,
        command=shlex.join(["longseq", *talk.arguments]),
        model=", ".join(subject.name for subject in subjects),
        model_sha256=subjects[0].sha256,
        device=device,
        threads=threads,
        seconds=seconds,
        peak_rss_mb=peak_rss_mb(),
    )
