"""A benchmark as text for a terminal: a table for each length, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from longseq.log import count, memory
from longseq.results.bench import Bench, BenchMachine, BenchRow

COLUMNS = ("mixer", "tokens/s", "of bound", "of matmul", "peak", "threads", "rounds")


def bench_text(found: Bench) -> str:
    """Plain text, ended by a line feed."""
    return "\n".join([*head_lines(found), *_tables(found), *_foot(found)]) + "\n"


def head_lines(found: Bench) -> Iterator[str]:
    """The machine and the models, some lines."""
    machine, model = found.machine, found.config["model"]
    where = f"{machine.processor}, {count(machine.cores, 'core')}, {machine.device}"
    yield f"{where}, torch {machine.torch}, {_load(machine)}"
    for rate in machine.matmul:
        bf16 = "" if rate.gflops_bf16 is None else f", bf16 {rate.gflops_bf16:,.1f}"
        yield f"matrix products, {count(rate.threads, 'thread')}: fp32 {rate.gflops_fp32:,.1f} GFLOP/s{bf16}"
    shape = f"{count(model['layers'], 'layer')} × {model['width']} channels, {count(model['heads'], 'attention head')}"
    yield f"{shape}, {model['feature_map']}, batch 1, {found.config['precision']}, chunks of {found.config['chunk']:,}"


def _tables(found: Bench) -> Iterator[str]:
    groups: dict[tuple[bool, int], list[BenchRow]] = {}
    for row in found.rows:
        groups.setdefault((row.train, row.length), []).append(row)
    for (train, length), rows in groups.items():
        yield ""
        yield f"{'training step' if train else 'inference'}, {length:,} tokens"
        yield from aligned([COLUMNS, *map(row_cells, rows)])


def _foot(found: Bench) -> Iterator[str]:
    yield ""
    yield from (f"not measured: {line}" for line in not_measured(found))
    if any(row.out_of_time for row in found.skipped):
        yield f"  --budget SECONDS gives more time than {found.config['budget']:g} s in all"
    width = max(map(len, found.notes), default=0)
    yield from (f"{name:<{width}}  {note}" for name, note in found.notes.items())


def not_measured(found: Bench) -> Iterator[str]:
    """What, and why, a line each."""
    for row in found.skipped:
        kind = "training step" if row.train else "inference"
        yield f"{row.mixer}, {kind} of {row.length:,} tokens: {row.reason}"


def row_cells(row: BenchRow) -> tuple[str, ...]:
    """A row of a table under `COLUMNS`."""
    return (
        row.mixer,
        f"{row.tokens_per_s:,.0f}",
        _share(row.share_of_bound),
        _share(row.share_of_matmul),
        "NA" if row.peak_mb is None else memory(row.peak_mb),
        str(row.threads),
        str(len(row.seconds)),
    )


def _load(machine: BenchMachine) -> str:
    if machine.load_before is None or machine.load_after is None:
        return "load not known"
    return f"load {machine.load_before:.1f} before, {machine.load_after:.1f} after"


def _share(share: float | None) -> str:
    return "NA" if share is None else f"{share:.3f}"


def aligned(table: Sequence[tuple[str, ...]]) -> Iterable[str]:
    """Names to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for name, *figures in table:
        cells = [name.ljust(widths[0]), *(f.rjust(w) for f, w in zip(figures, widths[1:], strict=True))]
        yield "  " + "  ".join(cells)
