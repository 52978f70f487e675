"""Lengths of records as a histogram, and the Nx curve."""

from __future__ import annotations

import itertools
import math

import numpy as np

from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Boxes, Line, Panel, Rule, View
from longseq.report.gathered.bins import histogram, nx
from longseq.report.page import Markup, element, table


def lengths(found: np.ndarray) -> list[Markup]:
    """Of (R,) lengths; nothing where all are alike."""
    if len(np.unique(found[found > 0])) < 2:
        return []
    return [element("div", _histogram(found), _curve(found), class_="two")]


def _histogram(found: np.ndarray) -> Markup:
    bars = histogram(found)
    edges = bars.edges
    bases = np.histogram(found, edges, weights=found.astype(np.float64))[0]
    across = Axis(label="length, bp", logarithmic=bars.logarithmic)

    def bar(name: str, heights: np.ndarray, labels: list[str], colour: int) -> Boxes:
        ground = np.zeros(len(heights))
        return Boxes(name=name, x0=edges[:-1], x1=edges[1:], y0=ground, y1=heights, labels=labels, colour=colour)

    after = [math.ceil(edge) for edge in edges.tolist()]  # the first length behind each; the last bar has its edge too
    after[-1] = math.floor(edges[-1]) + 1
    spans = [f"{a:,} to {b - 1:,} bp" for a, b in itertools.pairwise(after)]
    told = [f"{where}: {n:,} records" for where, n in zip(spans, bars.counts.tolist(), strict=True)]
    held = [f"{where}: {int(n):,} bp in them" for where, n in zip(spans, bases.tolist(), strict=True)]
    panels = [
        Panel(
            y=Axis(label="records", low=0, high=1.05 * float(bars.counts.max())),
            marks=[bar("records", bars.counts, told, 0)],
            height=150,
        ),
        Panel(
            y=Axis(label="bp in them", low=0, high=1.05 * float(bases.max())),
            marks=[bar("bases in them", bases, held, 2)],
            height=150,
        ),
    ]
    rows = [
        (where, f"{n:,}", f"{int(sum_):,}")
        for where, n, sum_ in zip(spans, bars.counts.tolist(), bases.tolist(), strict=True)
        if n
    ]
    folded = table(("length", "records", "bp"), rows, "Records by length")
    caption = "Records by length: how many there are, and how many bases they hold."
    return figure("dna-histogram", [View(x=across, panels=panels)], caption, folded)


def _curve(found: np.ndarray) -> Markup:
    percent, length = nx(found)
    marks = [Line(name="Nx", x=percent, y=length, colour=3)]
    known = dict(zip(percent.tolist(), length.tolist(), strict=True))
    rules = [Rule(at=float(x), label=f"N{x} {known[float(x)]:,}") for x in (50, 90)]
    logarithmic = length[0] > 20 * length[-1]
    view = View(
        x=Axis(label="x, % of all bases", low=0, high=100),
        panels=[
            Panel(
                y=Axis(label="Nx, bp", logarithmic=bool(logarithmic), low=None if logarithmic else 0),
                marks=[*marks, *rules],
                height=304,
            )
        ],
    )
    rows = [(f"N{x}", f"{known[float(x)]:,}") for x in range(10, 101, 10)]
    caption = "Nx: records of this length or longer hold x percent of all bases. The longer the plateau, the better."
    return figure("dna-nx", [view], caption, table(("", "bp"), rows, "Nx"))
