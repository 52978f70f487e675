"""`longseq compare`"""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import longseq
from longseq.cli.options import plots_option, talking
from longseq.cli.talk import Talk

if TYPE_CHECKING:
    from longseq.results.compare import Compare
    from longseq.tasks.compare.config import CompareConfig

SAMPLE = Path(longseq.__file__).parents[1] / "data" / "T4.gbff.gz"
"""The genome that comes with the project."""


class _Names(click.ParamType):
    name = "names"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        return [name for name in value.split(",") if name]


@click.command()
@click.argument("inputs", metavar="[INPUT...]", nargs=-1)
@click.option("--quick", is_flag=True, help="Fewer steps of smaller sums: about three minutes on two cores.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="Wall time, about.  [default: 20]")
@click.option(
    "--models",
    type=_Names(),
    metavar="NAME,NAME",
    help="Mixers, one a model.  [default: rnn,lstm,gru,softmax,linear,gated]",
)
@click.option("--tasks", type=_Names(), metavar="NAME,NAME", help="What they learn.  [default: addition,bases]")
@click.option("--seed", type=click.IntRange(0), help="Of weights, order and what is held out.  [default: 0]")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="One setting, such as bases.window=256.")
@click.option("--out", metavar="DIR", help="Write compare.json and compare.html, a page to show, there.")
@plots_option
@click.option("--force", is_flag=True, help="Replace what stands in --out, and start anew.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@talking
def command(
    inputs: tuple[str, ...],
    quick: bool,
    minutes: float | None,
    models: list[str] | None,
    tasks: list[str] | None,
    seed: int | None,
    assignments: tuple[str, ...],
    out: str | None,
    plots: tuple[str, ...],
    force: bool,
    as_json: bool,
    talk: Talk,
) -> None:
    """From recurrent nets to Transformers to linear attention: models of like size learn to add, and to foretell the
    next base, side by side.

    What they learn, how far back their gradients reach, what they cost in memory and time. Bases are those of the
    INPUTs (FASTA, GenBank …), or of phage T4, which comes with the project. A run that was stopped goes on: the same
    command again, with its --out, takes up all models that were done.
    """
    from longseq.errors import UsageError
    from longseq.formats.atomic import free_directory
    from longseq.formats.jsonfile import to_json
    from longseq.report.compare import compare_text
    from longseq.tasks.compare.run import compare
    from longseq.tasks.working import beside

    if plots and out is None:
        raise UsageError("--plots draws into --out", remedy="give --out DIR")
    config = _config(inputs, quick, minutes, models, tasks, seed, assignments)
    folder = None if out is None else beside(free_directory(out, force=force))
    found, remove = compare(
        config,
        command=shlex.join(["longseq", *talk.arguments]),
        progress=talk.progress(),
        folder=folder,
        force=force,
    )
    if out is not None:
        _write(found, out, plots, force=force)
        remove()
    click.echo(to_json(found.to_json()) if as_json else compare_text(found), nl=as_json)


def _config(
    inputs: tuple[str, ...],
    quick: bool,
    minutes: float | None,
    models: list[str] | None,
    tasks: list[str] | None,
    seed: int | None,
    assignments: tuple[str, ...],
) -> CompareConfig:
    """Settings of `--quick`, then what `--set` says, then the other options."""
    from longseq.config import load
    from longseq.errors import UsageError
    from longseq.results.compare import BASES
    from longseq.tasks.compare.config import QUICK, TASKS, CompareConfig

    if quick and minutes is not None:
        raise UsageError("--quick and --minutes exclude each other", remedy="give one of them")
    if not inputs and BASES in (tasks or TASKS):
        if not SAMPLE.is_file():
            remedy = "name a sequence file, or --tasks addition"
            raise UsageError(f"no INPUT, and {SAMPLE.name} is not installed here", remedy=remedy)
        inputs = (os.path.relpath(SAMPLE),)
    flags = {"inputs": list(inputs) or None, "minutes": minutes, "models": models, "tasks": tasks, "seed": seed}
    first = _assigned(QUICK) if quick else []
    return load(CompareConfig, None, [*first, *assignments, *_assigned(flags)])


def _assigned(values: dict[str, Any]) -> list[str]:
    return [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value is not None]


def _write(found: Compare, out: str, plots: tuple[str, ...], *, force: bool) -> None:
    from longseq.cli.leaving import leaving
    from longseq.report.compare_page import compare_page

    with leaving("compare", out, plots, force=force) as folder:
        assert folder is not None
        folder.write(found.to_json(), compare_page(found))
        if plots:
            from longseq.report.plots.compare import save_compare

            save_compare(folder.plots, plots, found)
