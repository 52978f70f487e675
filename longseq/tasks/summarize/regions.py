"""Regions of a record: where its composition changes, and stays changed.

Windows carry two figures, GC fraction and GC skew. Each is divided by its noise between neighbouring windows, and the
series is cut into the pieces that minimise

    sum of squared distances to the piece's mean  +  PENALTY · 3 · ln(W)  for each cut,

a Gaussian likelihood with a penalty for the three numbers a cut adds (its place and two means), after Schwarz 1978.
The minimum is exact (optimal partitioning, Jackson et al. 2005, pruned as in Killick et al. 2012), so the regions
follow from the windows alone.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from longseq.records import Interval
from longseq.results.dna import Region

PENALTY = 2.0
"""Times the Schwarz penalty: windows of real genomes are not independent, which makes plain ones too eager."""
SHORTEST = 2
"""Windows in a region, at least."""
PRUNE = 32
"""Steps between two clearings of starts that cannot win."""
MOST = 10_000
"""Windows looked at; neighbours of a record that has more are joined until it has not."""


def find_regions(record: str, acgt: np.ndarray, start: int, window: int, length: int) -> tuple[Region, ...]:
    """Regions that tile `[start, start + length)` of a record.

    Args:
        record: Its name.
        acgt: (W, 4) letters A, C, G, T of each window; windows without any belong to the region before them.
        start: First base of the first window.
        window: Letters a window, of which the last may have fewer.
        length: Letters in all.
    """
    if length == 0:
        return ()
    edges = [0, *_cuts(acgt), len(acgt)]
    regions = []
    for first, last in pairwise(edges):
        a, c, g, t = (int(n) for n in acgt[first:last].sum(axis=0, dtype=np.int64))
        where = Interval(record=record, start=start + first * window, end=start + min(last * window, length))
        gc = 100 * (g + c) / (a + c + g + t) if a + c + g + t else None
        regions.append(Region(interval=where, gc=gc, gc_skew=(g - c) / (g + c) if g + c else None))
    return tuple(regions)


def _cuts(acgt: np.ndarray) -> list[int]:
    if len(acgt) < 2 * SHORTEST:
        return []
    joined = -(-len(acgt) // MOST)
    starts = np.arange(0, len(acgt), joined)
    sums = np.add.reduceat(acgt.astype(np.int64), starts, axis=0)
    called = np.flatnonzero(sums.sum(axis=1))
    return [int(starts[called[cut]]) for cut in change_points(sums[called].astype(np.float64))]


def change_points(acgt: np.ndarray) -> list[int]:
    """Indices at which a new region begins, ascending, of (W, 4) windows that each hold a letter."""
    windows = len(acgt)
    if windows < 2 * SHORTEST:
        return []
    _, c, g, _ = acgt.T
    called, strong = acgt.sum(axis=1), g + c
    weight = called / called.max()
    gc, skew = strong / called, np.divide(g - c, strong, out=np.zeros(windows), where=strong > 0)
    p = float(strong.sum() / called.sum())
    expected = (np.sqrt(p * (1 - p) / called.max()), 1 / np.sqrt(max(float(np.median(strong)), 1.0)))
    series = np.stack([x / _noise(x, floor) for x, floor in zip((gc, skew), expected, strict=True)])
    return _partition(series, weight, PENALTY * 3 * np.log(windows))


def _noise(values: np.ndarray, floor: float) -> float:
    """Standard deviation between neighbours, which a change here and there does not move; at least that of chance."""
    spread = float(np.median(np.abs(np.diff(values)))) / (0.6744897501960817 * np.sqrt(2))
    return max(spread, float(floor), 1e-9)


def _partition(series: np.ndarray, weight: np.ndarray, penalty: float) -> list[int]:
    """Cheapest cuts of (2, W) series under weights (W,), every piece at least SHORTEST long."""
    windows = series.shape[1]
    w = np.concatenate([[0.0], np.cumsum(weight)])
    x, y = np.concatenate([np.zeros((2, 1)), np.cumsum(series * weight, axis=1)], axis=1)
    squares = np.concatenate([[0.0], np.cumsum((series**2 * weight).sum(axis=0))])
    # A candidate start s has a column (s, w[s], x[s], y[s], best[s] - squares[s]).
    table, kept = np.empty((5, windows + 1)), 0
    best = np.full(windows + 1, np.inf)
    best[0] = -penalty
    previous = np.zeros(windows + 1, np.int64)
    worse = None
    for end in range(SHORTEST, windows + 1):
        start = end - SHORTEST
        table[:, kept] = start, w[start], x[start], y[start], best[start] - squares[start]
        kept += 1
        starts, w_s, x_s, y_s, rest = table[:, :kept]
        cost = rest - ((x[end] - x_s) ** 2 + (y[end] - y_s) ** 2) / (w[end] - w_s)
        chosen = int(np.argmin(cost))
        best[end] = cost[chosen] + squares[end] + penalty
        previous[end] = starts[chosen]
        if worse is not None:
            keep = np.append(~worse, True)
            table[:, : keep.sum()] = table[:, :kept][:, keep]
            kept, worse = int(keep.sum()), None
        elif end % PRUNE == 0:
            # A start that costs more than a cut here never wins again once a piece that begins here may end: after
            # the next step, pieces being two windows long at least.
            worse = cost + squares[end] > best[end]
    cuts, end = [], int(previous[windows])
    while end > 0:
        cuts.append(end)
        end = int(previous[end])
    return cuts[::-1]
