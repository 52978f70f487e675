"""Speed of the recurrent core, each target beside what was found: core_speed.json and core_speed.md.

    python pipelines/benchmarks/core_speed.py                          # all, on an idle machine: hours
    python pipelines/benchmarks/core_speed.py --part bound --part gru  # these anew, the others kept
    python pipelines/benchmarks/core_speed.py --quick                  # does it run? prints, writes nothing

Plain `linear`: 4 layers × 128 channels, 4 attention heads, elu+1, no convolution, no gate; batch 1; random tokens. What
is compared runs side by side in rounds; figures are medians over rounds, best of one and two threads for each.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from core_streams import Streams
from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.model import ModelConfig
from longseq.results.bench import Bench, BenchRow
from longseq.streaming.surprisal import CHUNK
from longseq.tasks.bench.config import BenchConfig
from longseq.tasks.bench.measure import bench, ratio
from longseq.tasks.bench.passes import Job, Passes
from longseq.tasks.bench.worker import Worker

PLAIN = ModelConfig(pattern=("linear",), feature_map="elu+1", width=128, layers=4, heads=4)
WIDE = ModelConfig(pattern=("linear",), feature_map="elu+1", width=256, layers=4, heads=4)
THREADS = (1, 2)
MILLION = 1_000_000
CAUSAL = {512: 1.2, 4096: 2.6, 16384: 7.0, 65536: 25.0}
NOT_CAUSAL = {512: 1.3, 4096: 4.2, 16384: 13.0, 65536: 45.0}
FIELD = 50_000 / 156
"""Tokens/s of the field's C++ kernel for each GFLOP/s of the machine's float32 matrix products."""


def line(what: str, found: float, rule: str, target: float, unit: str = "×", **facts: object) -> dict:
    holds = found >= target if rule == ">=" else found <= target
    return {"what": what, "found": found, "rule": rule, "target": target, "unit": unit, "holds": holds, **facts}


def measured(mixers: tuple[str, ...], length: int, quick: bool, model: ModelConfig = PLAIN, threads=THREADS) -> Bench:
    """Rows of one length, as many rounds as suit it."""
    repeats = 1 if quick else 9 if length <= 4096 else 5 if length <= 16384 else 3 if length <= 65536 else 2
    return bench(
        BenchConfig(model=model, mixers=mixers, lengths=(length,), threads=threads, repeats=repeats, budget=1e6),
        command="core_speed.py",
    )


def rows_of(found: Bench) -> dict[str, BenchRow]:
    return {row.mixer: row for row in found.rows}


def load_of(found: Bench) -> dict:
    return {"load": found.machine.load, "matmul_gflops": found.machine.to_json()["matmul_gflops_fp32"]}


def bound(quick: bool) -> Iterator[dict]:
    for length in (512, 2048) if quick else (*CAUSAL, MILLION):
        found = measured(("linear",), length, quick)
        row = rows_of(found)["linear"]
        what = f"linear against the same blocks without attention, {length:,} tokens"
        yield line(what, row.share_of_bound, ">=", 0.8, tokens_per_s=row.tokens_per_s, **load_of(found))


def softmax(quick: bool) -> Iterator[dict]:
    yield from against_softmax((512,) if quick else (512, 4096), quick)


def softmax_long(quick: bool) -> Iterator[dict]:
    yield from against_softmax((16384,) if quick else (16384, 65536), quick)


def against_softmax(lengths: tuple[int, ...], quick: bool) -> Iterator[dict]:
    for length in lengths:
        # Minutes a pass at the longest: one round, at both threads, where the quotient is far from its target.
        long = length > 16384
        mixers = ("linear", "softmax", "softmax-bare", "softmax-both")
        found = measured(mixers, length, quick or long, threads=THREADS[-1:] if long else THREADS)
        rows = rows_of(found)
        for name, target in (
            ("softmax", CAUSAL[length]),
            ("softmax-bare", CAUSAL[length]),
            ("softmax-both", NOT_CAUSAL[length]),
        ):
            times = ratio(rows[name].seconds, rows["linear"].seconds)
            speed = {"tokens_per_s": rows["linear"].tokens_per_s, "against_tokens_per_s": rows[name].tokens_per_s}
            yield line(f"linear against {name}, {length:,} tokens", times, ">=", target, **speed, **load_of(found))


def gru(quick: bool) -> Iterator[dict]:
    found = measured(("linear", "gated", "gru", "gru-stack"), 512 if quick else 4096, quick, threads=(2,))
    rows = rows_of(found)
    for name, target in (("linear", 3.0), ("gated", 2.4)):
        for other, said in (("gru", "torch.nn.GRU in the same blocks"), ("gru-stack", "torch.nn.GRU layers alone")):
            what = f"{name} against {said}, {rows[name].length:,} tokens, two threads"
            times = ratio(rows[other].seconds, rows[name].seconds)
            speed = {"tokens_per_s": rows[name].tokens_per_s, "against_tokens_per_s": rows[other].tokens_per_s}
            yield line(what, times, ">=", target, **speed, **load_of(found))


def rate(quick: bool) -> Iterator[dict]:
    found = measured(("linear",), 2048 if quick else 16384, quick)
    row, facts = rows_of(found)["linear"], load_of(found)
    what = f"plain linear, {row.length:,} tokens"
    yield line(what, row.tokens_per_s, ">=", FIELD * facts["matmul_gflops"], "tokens/s", threads=row.threads, **facts)


def wide(quick: bool) -> Iterator[dict]:
    length = 2048 if quick else 16384
    found = measured(("linear",), length, quick, WIDE)
    row, facts = rows_of(found)["linear"], load_of(found)
    share = row.parameters * 2 * row.tokens_per_s / 1e9 / facts["matmul_gflops"]
    yield line(
        "width 256: share of the matrix-product rate, 2 FLOPs a parameter",
        share,
        ">=",
        0.6,
        threads=row.threads,
        **facts,
    )
    seconds = side_by_side({p: job(WIDE, length, precision=p) for p in ("fp32", "bf16")}, 1 if quick else 9)
    yield line("width 256: bf16 against fp32", ratio(seconds["fp32"], seconds["bf16"]), ">=", 1.6, seconds=seconds)


def million(quick: bool) -> Iterator[dict]:
    short, long = (2_000, 8_000) if quick else (MILLION // 10, MILLION)
    seconds = side_by_side({str(n): job(PLAIN, n) for n in (short, long)}, 1 if quick else 5)
    found = ratio(seconds[str(short)], seconds[str(long)]) * long / short
    yield line(f"speed at {long:,} tokens against {short:,}", found, ">=", 0.9, seconds=seconds)


def train(quick: bool) -> Iterator[dict]:
    length = 2048 if quick else 131_072
    for name in ("linear", "gated"):
        with Worker(Passes, job(PLAIN, length, name=name, train=True)) as worker:
            seconds = {threads: worker.ask("run", threads) for threads in THREADS}
            peak = worker.ask("peak_mb")
        speed = length / min(seconds.values())
        what = f"memory of a training step of {name}, {length:,} tokens"
        yield line(what, peak / 1024, "<=", 6.0, "GiB", tokens_per_s=speed)


def stream(quick: bool) -> Iterator[dict]:
    letters = 40_000 if quick else 10_000_000
    found = streamed("long", PLAIN, letters)
    yield line(f"stream of {letters:,} letters of FASTA against ids in memory", found["ratio"], ">=", 0.9, **found)


def lanes(quick: bool) -> Iterator[dict]:
    records = 200 if quick else 10_000
    found = streamed("lanes", PLAIN, records)
    yield line(f"{records:,} records of 200 bp against one of as many letters", found["ratio"], ">=", 0.5, **found)


PARTS: dict[str, Callable[[bool], Iterator[dict]]] = {
    part.__name__: part for part in (bound, softmax, softmax_long, gru, rate, wide, million, train, stream, lanes)
}


def job(model: ModelConfig, length: int, name: str = "linear", train: bool = False, precision: str = "fp32") -> Job:
    return Job(
        name=name,
        model=model,
        length=length,
        train=train,
        chunk=CHUNK,
        precision=precision,
        device="cpu",
        shortest=0.2,
    )


def side_by_side(jobs: dict[str, Job], rounds: int) -> dict[str, list[float]]:
    """Seconds of a pass of each job in each round, at the thread count at which it is fastest."""
    workers = {name: Worker(Passes, given) for name, given in jobs.items()}
    try:
        for worker in workers.values():
            worker.ask("estimate", 1)  # also how often a short pass is repeated
        seconds: dict[str, dict[int, list[float]]] = {name: {n: [] for n in THREADS} for name in jobs}
        for _ in range(rounds):
            for name, worker in workers.items():
                for threads in THREADS:
                    seconds[name][threads].append(worker.ask("run", threads))
    finally:
        for worker in workers.values():
            worker.close()
    return {name: min(found.values(), key=statistics.median) for name, found in seconds.items()}


def streamed(kind: str, model: ModelConfig, size: int) -> dict:
    """Tokens/s of two ways to read, alternately, and of the first by the second; each at its better thread count."""
    found = {}
    for threads in THREADS:
        with Worker(Streams, model) as worker:
            found[threads] = worker.ask(kind, size, threads)
    best = [max(way, key=lambda n: way[n]) for way in ({n: speeds[i] for n, speeds in found.items()} for i in (0, 1))]
    speeds = [found[threads][i] for i, threads in enumerate(best)]
    return {
        "ratio": speeds[0] / speeds[1],
        "tokens_per_s": speeds[0],
        "against_tokens_per_s": speeds[1],
        "threads": best,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: prints, writes nothing")
    parser.add_argument("--table", action="store_true", help="only make the table anew from the JSON")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    # As the command line does: threads that wait sleep instead of spinning.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    document = {"benchmark": "core_speed", "parts": {}}
    if options.out.exists() and not options.quick:
        document = json.loads(options.out.read_text(encoding="utf-8"))
    for name in [] if options.table else options.part or PARTS:
        began, lines = time.monotonic(), []
        for row in PARTS[name](options.quick):
            lines.append(row)
            print(f"{name:>8}  {said(row)}  {row['what']}", flush=True)
        origin = provenance()
        document["parts"][name] = {"lines": lines, "seconds": time.monotonic() - began, "provenance": origin}
        if not options.quick:
            write_json(options.out, document, force=True)
    if not options.quick:
        with write_aside(options.out.with_suffix(".md"), force=True) as aside:
            aside.write_text(markdown(document), encoding="utf-8")


def said(row: dict) -> str:
    number = "{:,.0f} {}" if row["unit"] == "tokens/s" else "{:.2f} {}"
    found, target = (number.format(row[name], row["unit"]) for name in ("found", "target"))
    return f"{found} ({row['rule']} {target}: {'held' if row['holds'] else 'NOT HELD'})"


def markdown(document: dict) -> str:
    """The document as a table, a row for each line, in the order of the parts."""
    text = ["# core_speed", "", *__doc__.strip().split("\n\n")[-1].splitlines(), ""]
    rows, origins = [], []
    for name in PARTS:
        if name not in document["parts"]:
            continue
        part = document["parts"][name]
        for row in part["lines"]:
            verdict = said(row)
            found, _, rest = verdict.partition(" (")
            rule, _, held = rest.rstrip(")").rpartition(": ")
            speed = row.get("tokens_per_s")
            rows.append([row["what"], found, rule, held, "" if speed is None else f"{speed:,.0f}"])
        origin = part["provenance"]
        origins.append(
            f"* {name}: commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, load "
            f"{origin['load']:.1f} at the end, torch {origin['versions']['torch']}, {origin['time']}"
        )
    text += [table(["what", "found", "target", "", "tokens/s"], rows), *origins, ""]
    return "\n".join(text)


if __name__ == "__main__":
    main()
