"""`bench.html`: a benchmark as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from longseq.log import count
from longseq.report.bench import COLUMNS, head_lines, not_measured, row_cells
from longseq.report.bench_curves import BOUND, Curve, crossings, curves, rounded
from longseq.report.figures.figure import figure
from longseq.report.figures.library import STYLE, scripts
from longseq.report.figures.marks import Axis, Line, Panel, Rule, View, named
from longseq.report.page import Markup, element, page, table
from longseq.results.bench import Bench, BenchRow


def bench_page(found: Bench) -> Iterable[str]:
    """The page in pieces."""
    return page("Speed and memory against length", _body(found), STYLE, facts=[*head_lines(found)], scripts=scripts())


def _body(found: Bench) -> Iterator[str]:
    for train, name in ((False, "Inference"), (True, "Training steps")):
        shown, rows = curves(found, train), [row for row in found.rows if row.train == train]
        if shown:
            yield element("section", *_section(name, shown, rows)) + "\n"
    missing = [element("li", line) for line in not_measured(found)]
    names = [item for name, note in found.notes.items() for item in (element("dt", name), element("dd", note))]
    if missing:
        yield element("section", element("h2", "Not measured"), element("ul", *missing)) + "\n"
    if names:
        yield element("section", element("h2", "What was compared"), element("dl", *names)) + "\n"
    run = found.run
    made = f"longseq {run.version}, {count(round(run.seconds), 'second')}: {run.command}"
    yield element("footer", element("p", made)) + "\n"


def _section(name: str, shown: list[Curve], rows: Sequence[BenchRow]) -> Iterator[Markup]:
    yield element("h2", name)
    said = [crossing.said for crossing in crossings(shown)]
    if said:
        yield element("p", "; ".join(said) + ".")
    head = (COLUMNS[0], "tokens", *COLUMNS[1:])
    cells = [(row.mixer, f"{row.length:,}", *row_cells(row)[1:]) for row in rows]
    caption = (
        "Tokens a second of the median pass, batch 1: higher is faster. A level line is time that grows with length."
    )
    yield _figure(name, "speed", "speeds", "tokens a second", shown, caption, table(head, cells, f"{name}: figures"))
    if any(np.isfinite(curve.peaks).any() for curve in shown):
        caption = "Memory beside the loaded model, the most that was held at once: lower is less."
        peaks = [
            (curve.mixer, f"{length:,}", f"{peak:,.1f}")
            for curve in shown
            for length, peak in zip(curve.lengths, curve.peaks, strict=True)
        ]
        seen = table(("mixer", "tokens", "MiB"), peaks, f"{name}: memory")
        yield _figure(name, "memory", "peaks", "MiB", shown, caption, seen)


def _figure(name: str, what: str, which: str, label: str, shown: list[Curve], caption: str, seen: Markup) -> Markup:
    lengths = sorted({length for curve in shown for length in curve.lengths})
    marks: list[Line | Rule] = []
    for number, curve in enumerate(shown):
        values = np.array(getattr(curve, which), float)
        values[values <= 0] = np.nan  # on a logarithmic axis
        bound = curve.mixer == BOUND
        called = "without attention" if bound else curve.mixer
        line = Line(name=called, x=curve.lengths, y=values, colour=number % 8, dashed=bound, dots=True)
        marks.append(line)
    if which == "speeds":
        crossed = [(one, one.length) for one in crossings(shown) if one.length is not None]
        marks += [Rule(at=at, label=f"{one.mixer} ahead from {rounded(at):,}") for one, at in crossed]
    across = Axis(label="tokens", logarithmic=True, ticks=named(lengths))
    panel = Panel(y=Axis(label=label, logarithmic=True), marks=marks)
    return figure(f"{name.split()[0].lower()}-{what}", [View(x=across, panels=[panel])], caption, seen)
