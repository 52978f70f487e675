"""GC against length of all records, by class where there is one."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np

from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Panel, Points, View
from longseq.report.gathered.lengths import Lengths
from longseq.report.lines import shortened
from longseq.report.page import Markup, table
from longseq.results.dna import RecordSummary

POINTS = 2_000
"""Records that are shown as points of their own."""
ACROSS, UP = 72, 48
"""Cells of a grid that shows more of them."""
COLOURS = 7
"""Of classes; the last colour is for all others."""


class _Cells(NamedTuple):
    """Cells of the grid in which there are records."""

    x: np.ndarray
    y: np.ndarray
    number: np.ndarray
    colour: np.ndarray
    labels: list[str]


class Composition:
    """Takes records as they come: some thirty bytes each."""

    def __init__(self) -> None:
        self.lengths = Lengths()
        self._classes = array("H")
        self._known: dict[str, int] = {}
        self._names: list[str] = []

    def dna(self, summary: RecordSummary) -> None:
        self.lengths.dna(summary)
        classes = summary.row.findings.classes
        label = "" if classes is None else classes.label
        self._classes.append(self._known.setdefault(label, min(len(self._known), 0xFFFF)))
        if len(self._names) <= POINTS:
            self._names.append(summary.row.id)

    def shown(self) -> list[Markup]:
        """A figure; nothing of fewer than three records."""
        length, gc = self.lengths.lengths, self.lengths.gc
        there = np.isfinite(gc) & (length > 0)
        if np.count_nonzero(there) < 3:
            return []
        classes = np.frombuffer(self._classes, np.uint16).astype(np.int64)
        colours, names = self._coloured(classes)
        length, gc, colours = length[there], gc[there], colours[there]
        logarithmic = bool(length.max() > 20 * length.min())
        across = Axis(label="length, bp", logarithmic=logarithmic)
        if len(length) <= POINTS:
            words = [self._names[i] for i in np.flatnonzero(there)]
            cells = _single(length, gc, colours, words, names)
            caption = "GC against length, a point a record"
        else:
            cells = _grid(length, gc, colours, names, logarithmic)
            caption = f"GC against length of {len(length):,} records: the larger a point, the more of them are there"
        marks = []
        for colour, name in names.items():
            of = np.flatnonzero(cells.colour == colour)
            if len(of):
                size = 5 + 2.5 * np.log2(cells.number[of])
                marks.append(
                    Points(
                        name=name,
                        x=cells.x[of],
                        y=cells.y[of],
                        colour=colour,
                        size=7.0 if len(length) <= POINTS else size,
                        labels=[cells.labels[i] for i in of],
                    )
                )
        panels = [Panel(y=Axis(label="GC, %"), marks=marks, height=360)]
        classed = ", in the colour of its class." if len(names) > 1 else "."
        rows = _rows(length, gc, colours, names)
        folded = table(("class", "records", "bp", "mean GC, %"), rows, "Composition by class")
        return [figure("dna-gc", [View(x=across, panels=panels)], caption + classed, folded)]

    def _coloured(self, classes: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        """A colour for each record, and what the colours mean: the most common classes have one of their own."""
        labels = [label or "records" for label in self._known]
        order = np.argsort(-np.bincount(classes, minlength=len(labels)), kind="stable")
        colour = np.empty(len(labels), np.int64)
        colour[order] = np.minimum(np.arange(len(labels)), COLOURS)
        names = {place: labels[of] for place, of in enumerate(order[:COLOURS].tolist())}
        if len(labels) > COLOURS:
            names[COLOURS] = "other classes"
        return colour[classes], names


def _single(length: np.ndarray, gc: np.ndarray, colours: np.ndarray, words: list[str], names: dict[int, str]) -> _Cells:
    labels = [
        f"{shortened(word) or '(no id)'}: {n:,} bp, GC {g:.2f} %" + (f", {names[c]}" if len(names) > 1 else "")
        for word, n, g, c in zip(words, length.tolist(), gc.tolist(), colours.tolist(), strict=True)
    ]
    return _Cells(length, gc, np.ones(len(length), np.int64), colours, labels)


def _grid(length: np.ndarray, gc: np.ndarray, colours: np.ndarray, names: dict[int, str], logarithmic: bool) -> _Cells:
    """Records of one cell and colour together, at the middle of the cell."""
    there = np.log(length) if logarithmic else length.astype(np.float64)
    x, y = _cell(there, ACROSS), _cell(gc, UP)
    key, number = np.unique((x * UP + y) * (COLOURS + 1) + colours, return_counts=True)
    colour, cell = key % (COLOURS + 1), key // (COLOURS + 1)
    middle_x, middle_y = _middle(there, cell // UP, ACROSS), _middle(gc, cell % UP, UP)
    middle_x = np.exp(middle_x) if logarithmic else middle_x
    labels = [
        f"{n:,} records near {at:,.0f} bp, GC {g:.1f} %" + (f", {names[c]}" if len(names) > 1 else "")
        for n, at, g, c in zip(number.tolist(), middle_x.tolist(), middle_y.tolist(), colour.tolist(), strict=True)
    ]
    return _Cells(middle_x, middle_y, number, colour, labels)


def _cell(values: np.ndarray, cells: int) -> np.ndarray:
    low, high = values.min(), values.max()
    return np.minimum(((values - low) / ((high - low) or 1.0) * cells).astype(np.int64), cells - 1)


def _middle(values: np.ndarray, cell: np.ndarray, cells: int) -> np.ndarray:
    low, high = values.min(), values.max()
    return low + (cell + 0.5) * (high - low) / cells


def _rows(length: np.ndarray, gc: np.ndarray, colours: np.ndarray, names: dict[int, str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for colour, name in names.items():
        of = colours == colour
        if of.any():
            mean = float((gc[of] * length[of]).sum() / length[of].sum())
            rows.append((name, f"{np.count_nonzero(of):,}", f"{int(length[of].sum()):,}", f"{mean:.2f}"))
    return rows
