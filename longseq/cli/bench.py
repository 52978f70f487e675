"""`longseq bench`"""

from __future__ import annotations

import json
import logging
import math
import shlex

import click

from longseq.cli import exit
from longseq.cli.leaving import leaving
from longseq.cli.options import plots_option, talking
from longseq.cli.talk import Talk
from longseq.log import duration

log = logging.getLogger("longseq")

BEST = "best"


class _Threads(click.ParamType):
    name = "threads"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value != BEST and not (value.isdecimal() and int(value) >= 1):
            self.fail(f"{value!r} is neither {BEST!r} nor a number of threads", param, ctx)
        return value


class _Seconds(click.ParamType):
    name = "seconds"

    def convert(self, value: float | str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not math.isfinite(seconds):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return seconds


@click.command()
@click.option(
    "--mixer",
    "mixers",
    metavar="NAME",
    multiple=True,
    help="What is measured; may be repeated.  [default: linear, gated, softmax, softmax-both, gru]",
)
@click.option(
    "--length",
    "lengths",
    metavar="N",
    type=click.IntRange(1),
    multiple=True,
    help="Tokens; may be repeated.  [default: 512, 4096, 16384, 65536, 1048576]",
)
@click.option("--train", is_flag=True, help="Time training steps too.")
@click.option("--repeats", type=click.IntRange(1), help="Rounds at most.  [default: 5]")
@click.option("--budget", type=_Seconds(), metavar="SECONDS", help="Time for all of it, about.  [default: 120]")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="One setting, such as model.width=256.")
@click.option("--chunk", type=click.IntRange(1), help="Tokens a recurrent call.  [default: 2048]")
@click.option("--precision", type=click.Choice(["fp32", "bf16"]), help="Of matrix products.  [default: fp32]")
@click.option(
    "--threads",
    type=_Threads(),
    metavar="N|best",
    help="Processor threads; best: one and all cores, whichever is faster.  [default: 1]",
)
@click.option("--device", help="cpu, cuda, cuda:1.  [default: cpu]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--out", metavar="DIR", help="Write bench.json and a page, bench.html, there.")
@plots_option
@click.option("--force", is_flag=True, help="Replace what stands in --out.")
@talking
def command(
    mixers: tuple[str, ...],
    lengths: tuple[int, ...],
    train: bool,
    repeats: int | None,
    budget: float | None,
    assignments: tuple[str, ...],
    chunk: int | None,
    precision: str | None,
    threads: str | None,
    device: str | None,
    as_json: bool,
    out: str | None,
    plots: tuple[str, ...],
    force: bool,
    talk: Talk,
) -> int:
    """Speed and memory against length, beside softmax and GRU, on this machine.

    Models of one shape read random tokens, each in a process of its own, side by side. `none` is the same model without
    attention: the bound. Other names: the mixers of a model, softmax-bare, softmax-both, gru-stack. Memory on cuda is
    what torch has allocated. Exit code 1: nothing could be measured.
    """
    from longseq.config import load
    from longseq.formats.jsonfile import to_json
    from longseq.report.bench import bench_text
    from longseq.report.bench_page import bench_page
    from longseq.report.plots.bench import save_bench
    from longseq.tasks.bench.config import BenchConfig, cores
    from longseq.tasks.bench.measure import bench

    counts = None if threads is None else sorted({1, cores()}) if threads == BEST else [int(threads)]
    flags = {
        "mixers": list(mixers) or None,
        "lengths": list(lengths) or None,
        "train": train or None,
        "repeats": repeats,
        "budget": budget,
        "chunk": chunk,
        "precision": precision,
        "threads": counts,
        "device": device,
    }
    given = [f"{key}={json.dumps(value)}" for key, value in flags.items() if value is not None]
    config = load(BenchConfig, None, [*assignments, *given])
    log.info("about %s at most; --budget SECONDS changes it", duration(config.budget))
    # An output that cannot be written is refused before anything is measured.
    with leaving("bench", out, plots, force=force) as folder:
        found = bench(config, command=shlex.join(["longseq", *talk.arguments]), progress=talk.progress())
        if folder is not None:
            folder.write(found.to_json(), bench_page(found))
            if plots:
                save_bench(folder.plots, plots, found)
    click.echo(to_json(found.to_json()) if as_json else bench_text(found), nl=as_json)
    if found.rows:
        return exit.DONE
    for reason, names in found.reasons().items():
        log.error("nothing was measured: %s: %s", ", ".join(names), reason)
    return exit.BAD_DATA
