"""The lines of a page in the order in which they are read: column after column, from the top down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from longseq.formats.pdf.pdfium import GAP, Fragment

SIDE = 5
"""Lines that either side of a gutter has at least."""
MARK = 4
"""Letters in front of a line that number it."""
_NUMBER = re.compile(r"\d{1,2}\b")


class Line(NamedTuple):
    """A line of one column; points from the lower left corner of the page."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    left: float
    """Of its column."""
    right: float
    """Of its column."""
    cells: int
    """Stretches parted by wide gaps: more than one in a table."""

    @property
    def height(self) -> float:
        return self.y1 - self.y0


def ordered(fragments: Sequence[Fragment]) -> list[Line]:
    """Lines of the page; numbers in front of a transcript's lines are left out."""
    return _without_numbers(_columns(sorted(fragments, key=lambda f: -f.y0), 0))


def _columns(fragments: list[Fragment], depth: int) -> list[Line]:
    gutter = _gutter(fragments) if depth < 2 and len(fragments) >= 2 * SIDE else None
    if gutter is None:
        return _rows(fragments)
    lines: list[Line] = []
    left: list[Fragment] = []
    right: list[Fragment] = []

    def close() -> None:
        for side in (left, right):
            lines.extend(_columns(side, depth + 1))
            side.clear()

    wide: list[Fragment] = []  # across the gutter: a title, between bands of columns
    for fragment in fragments:
        if fragment.x1 <= gutter or fragment.x0 >= gutter:
            if wide:
                lines.extend(_rows(wide))
                wide = []
            (left if fragment.x1 <= gutter else right).append(fragment)
        else:
            close()
            wide.append(fragment)
    lines.extend(_rows(wide))
    close()
    return lines


def _gutter(fragments: list[Fragment]) -> float | None:
    """Where a page of running text parts into two columns: few lines cross it, and lines nearly reach it."""
    low, high = min(f.x0 for f in fragments), max(f.x1 for f in fragments)
    best: tuple[int, float] | None = None
    for step in range(25, 76):
        x = low + (high - low) * step / 100
        left = [f for f in fragments if f.x1 <= x]
        right = [f for f in fragments if f.x0 >= x]
        across = len(fragments) - len(left) - len(right)
        if len(left) < SIDE or len(right) < SIDE or across > 0.25 * len(fragments):
            continue
        if _filled(left) and _filled(right) and _beside(left, right) and (best is None or across < best[0]):
            best = across, x
    return None if best is None else best[1]


def _filled(side: list[Fragment]) -> bool:
    """Whether most lines of a side run over most of its width, as text does and a table does not."""
    low, high = min(f.x0 for f in side), max(f.x1 for f in side)
    full = sum((f.x1 - f.x0 > 0.7 * (high - low) and " " in f.text) or len(f.text) > 12 for f in side)
    return full > 0.5 * len(side)


def _beside(left: list[Fragment], right: list[Fragment]) -> bool:
    """Whether both sides stand at the same height for the most part."""
    top = min(max(f.y1 for f in side) for side in (left, right))
    foot = max(min(f.y0 for f in side) for side in (left, right))
    spans = [max(f.y1 for f in side) - min(f.y0 for f in side) for side in (left, right)]
    return top - foot > 0.5 * min(spans)


def _rows(fragments: list[Fragment]) -> list[Line]:
    """Fragments that share a base line, joined from left to right."""
    if not fragments:
        return []
    left, right = min(f.x0 for f in fragments), max(f.x1 for f in fragments)
    rows: list[list[Fragment]] = []
    for fragment in fragments:
        middle = (fragment.y0 + fragment.y1) / 2
        if rows and rows[-1][0].y0 <= middle <= rows[-1][0].y1:
            rows[-1].append(fragment)
        else:
            rows.append([fragment])
    lines = []
    for row in rows:
        row.sort(key=lambda f: f.x0)
        main = max(row, key=lambda f: len(f.text))
        text, cells = row[0].text, 1
        for before, after in pairwise(row):
            wide = after.x0 - before.x1 > GAP * (main.y1 - main.y0)
            cells += wide and len(text) > MARK  # a number in front makes no table
            text += ("  " if wide else " ") + after.text
        lines.append(Line(text, row[0].x0, main.y0, max(f.x1 for f in row), main.y1, left, right, cells))
    return lines


def _without_numbers(lines: list[Line]) -> list[Line]:
    """Lines of a transcript, numbered at their left from 1 on every page, without these numbers."""
    numbers = [int(found[0]) if (found := _NUMBER.match(line.text)) else None for line in lines]
    run = 0
    for number in numbers:
        run += number == run + 1
    if run < 10 or run < 0.8 * len(lines):
        return lines
    kept: list[Line] = []
    expected = 1
    for line, number in zip(lines, numbers, strict=True):
        if number != expected:
            kept.append(line)
            continue
        expected += 1
        text = line.text[len(str(number)) :].strip()
        if text:
            kept.append(line._replace(text=text, cells=max(line.cells - 1, 1)))
    return kept
