"""Windows along a record in no more bins than can be seen, lengths in bars, and the running sum of a skew."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

BARS = 40
"""Of a histogram of lengths, about."""
DECADE = 20.0
"""Longest by shortest from which bars are of equal width on a logarithmic axis."""


class Bins(NamedTuple):
    """Neighbouring windows of a record, so many together that they fit; the peaks stay."""

    start: np.ndarray
    """(N,) int64, first base of a bin."""
    end: np.ndarray
    """(N,) int64, the base behind its last."""
    low: np.ndarray
    """(N,) float32, the least of its windows; NaN where none has a value, as in the two below."""
    mean: np.ndarray
    """(N,) float32, the mean of its windows that have a value."""
    high: np.ndarray
    """(N,) float32, the greatest."""


def together(windows: int, most: int) -> int:
    """How many neighbouring windows are one bin, so that there are at most `most` bins."""
    return max(1, -(-windows // most))


def binned(start: np.ndarray, end: np.ndarray, values: np.ndarray, most: int) -> Bins:
    """(W,) windows `[start, end)` that tile a stretch, and a value of each, in at most `most` bins of as many windows,
    but for the last. What is no number does not count."""
    first = np.arange(0, len(start), together(len(start), most))
    if not len(first):
        return Bins(start, end, *[values.astype(np.float32)] * 3)
    known = np.isfinite(values)
    number = np.add.reduceat(known.astype(np.int64), first)
    total = np.add.reduceat(np.where(known, values, 0.0).astype(np.float64), first)
    low = np.minimum.reduceat(np.where(known, values, np.inf), first)
    high = np.maximum.reduceat(np.where(known, values, -np.inf), first)
    empty = number == 0
    mean = np.divide(total, number, out=np.full(len(first), np.nan), where=~empty)
    low, high = np.where(empty, np.nan, low), np.where(empty, np.nan, high)
    last = np.append(first[1:], len(start)) - 1
    return Bins(start[first], end[last], *(part.astype(np.float32) for part in (low, mean, high)))


class Walk(NamedTuple):
    """The running sum of G - C along a record, the mean of all its bases taken out, so that it returns to zero."""

    first: np.ndarray
    """(N,) int64, the first window of each step."""
    steps: np.ndarray
    """(N,) float64, what each adds."""

    @property
    def sums(self) -> np.ndarray:
        """(N,) float64, in bases, after each step."""
        return np.cumsum(self.steps)


def skew_walk(acgt: np.ndarray, most: int) -> Walk:
    """Of (W, 4) counts of A, C, G, T of windows, in at most `most` steps: neighbouring windows are joined where there
    are more. Without a base no step adds anything."""
    first = np.arange(0, len(acgt), together(len(acgt), most))
    sums = np.add.reduceat(acgt.astype(np.int64), first, axis=0) if len(first) else np.zeros((0, 4), np.int64)
    called = sums.sum(axis=1).astype(np.float64)
    excess = (sums[:, 2] - sums[:, 1]).astype(np.float64)
    return Walk(first, excess - called * (excess.sum() / max(called.sum(), 1.0)))


class Histogram(NamedTuple):
    """Bars of lengths."""

    edges: np.ndarray
    """(N + 1,) float64, ascending; bar i holds `[edges[i], edges[i + 1])`, the last one its upper edge as well."""
    counts: np.ndarray
    """(N,) int64."""
    logarithmic: bool
    """Bars are of equal width on a logarithmic axis."""


def histogram(lengths: np.ndarray, bars: int = BARS) -> Histogram:
    """Of (R,) lengths, those of 0 left out."""
    some = lengths[lengths > 0]
    if not len(some):
        return Histogram(np.array([0.0, 1.0]), np.zeros(1, np.int64), False)
    least, most = int(some.min()), int(some.max())
    logarithmic = most / least >= DECADE
    if least == most:
        edges = np.array([least - 0.5, least + 0.5])
    elif logarithmic:
        edges = np.geomspace(least, most, bars + 1)
        edges[0], edges[-1] = least, most
    else:
        # bars of whole numbers of bases: with fractions some would hold more lengths than others
        width = math.ceil((most - least + 1) / bars)
        edges = np.arange(least, most + 1 + width, width, dtype=float) - 0.5
    return Histogram(edges, np.histogram(some, edges)[0].astype(np.int64), logarithmic)


def nx(lengths: np.ndarray, steps: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Percent x and length Nx, (N,) each, at `steps` equal steps above 0 and at 100: of the longest records that
    together hold x percent of all bases, the length of the shortest (QUAST's Nx plot). Empty without a base."""
    ordered = np.sort(lengths[lengths > 0].astype(np.int64))[::-1]
    if not len(ordered):
        return np.zeros(0), np.zeros(0, np.int64)
    sums = np.cumsum(ordered)
    step = np.arange(1, steps + 1, dtype=np.int64)
    # whole numbers: a share of the total has no exact float
    records = np.searchsorted(sums * steps, step * sums[-1])
    return 100 * step / steps, ordered[records]
