"""What stands in a figure: lines, points, boxes, grids and tracks, as plain arrays, and axes to read them by.

Colours are the numbers 0 to 7 of the page's palette, each legible in light and in the dark. NaN is a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

COLOURS = 8
Numbers = Sequence[float] | np.ndarray


@dataclass(frozen=True, kw_only=True)
class Shade:
    """A colour for each value, from `low` to `high`, beside one fixed colour for all."""

    values: Numbers
    label: str
    """What the values are, with their unit."""
    low: float
    high: float


Colour = int | Sequence[int] | Shade
"""One for all, one each, or by value."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """Through (N,) points."""

    name: str
    x: Numbers
    y: Numbers
    colour: int = 0
    dashed: bool = False
    dots: bool = False
    """A mark at each point."""
    thin: bool = False


@dataclass(frozen=True, kw_only=True)
class Band:
    """Between two lines over the same (N,) x, without gaps."""

    name: str
    x: Numbers
    low: Numbers
    high: Numbers
    colour: int = 0


@dataclass(frozen=True, kw_only=True)
class Points:
    name: str
    x: Numbers
    y: Numbers
    colour: Colour = 0
    size: float | Numbers = 6
    """Pixels."""
    labels: Sequence[str] = ()
    """What is said where a reader points at one; nothing: its x and y."""


@dataclass(frozen=True, kw_only=True)
class Boxes:
    """Rectangles: bars of a histogram, stretches along a record."""

    name: str
    x0: Numbers
    x1: Numbers
    y0: Numbers
    y1: Numbers
    colour: Colour = 0
    labels: Sequence[str] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    """With a colour each: what the colours mean."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A heat map: (rows, columns) values in boxes of equal size over `x` and `y`, the first row lowest."""

    name: str
    x: tuple[float, float]
    y: tuple[float, float]
    values: np.ndarray
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A line across the panel, with words beside it."""

    at: float
    label: str
    along: Literal["x", "y"] = "x"
    """The axis on which `at` lies."""


@dataclass(frozen=True, kw_only=True)
class Track:
    """A value a bin along a record, which the page bins further to what a screen shows, down to single ones as a reader
    zooms in; where bins are of several windows, `low` and `high` keep the peaks."""

    name: str
    start: float
    step: float
    """Bin i is `[start + i · step, start + (i + 1) · step)`."""
    stop: float
    """End of the last bin."""
    mean: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    colour: int = 0
    unit: str = ""


Mark = Line | Band | Points | Boxes | Grid | Rule | Track


@dataclass(frozen=True, kw_only=True)
class Axis:
    label: str
    """With the unit."""
    low: float | None = None
    high: float | None = None
    """Ends; None: those of what is shown, with some room."""
    logarithmic: bool = False
    ticks: Mapping[float, str] = field(default_factory=dict)
    """Places that have a name, in place of numbers."""
    places: bool = False
    """Positions along a record: half-open from 0 here, 1-based and closed in words to a reader."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Marks over the figure's x."""

    y: Axis
    marks: Sequence[Mark]
    height: int = 260
    """Pixels."""


@dataclass(frozen=True, kw_only=True)
class View:
    """One picture: panels below one another, which share their x."""

    x: Axis
    panels: Sequence[Panel]
    name: str = ""
    """By which a reader chooses among several."""
    note: str = ""
    """Said below it: resolution, what is left out."""


def named(values: Iterable[float]) -> dict[float, str]:
    """Ticks at these values, as an axis has room for: 0.25, 512, 16,384, 2M, 1G."""
    return {float(value): _short(value) for value in values}


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
