"""Regions of a record: where its composition changes, or what it costs a model, and stays changed.

Windows carry figures: of composition GC skew and the frequencies of pairs of bases, read on both strands (of a record
of few windows GC skew and GC alone); of a model bits a base. They are turned and divided so that the noise between
neighbouring windows is one in each direction, and the series is cut into the pieces that minimise

    sum of squared distances to the piece's mean  +  PENALTY · (figures + 1) · ln(W)  for each cut,

a Gaussian likelihood with a penalty for the numbers a cut adds (its place and the means), after Schwarz 1978.
The minimum is exact (optimal partitioning, Jackson et al. 2005, pruned as in Killick et al. 2012), so the regions
follow from the windows alone.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np

from longseq.records import Interval
from longseq.results.dna import Region

PENALTY = 1.5
"""Times the Schwarz penalty: windows of real genomes are not independent, which makes plain ones too eager."""
SHORTEST = 2
"""Windows in a region, at least."""
PRUNE = 32
"""Steps between two clearings of starts that cannot win."""
MOST = 5_000
"""Windows looked at; neighbours of a record that has more are joined until it has not."""
PAIRS_FROM = 64
"""Windows from which pairs of bases are looked at: the noise of ten figures is not told from fewer."""
FAINTEST = 1e-2
"""Variance of a direction of the noise, at least, where the figures' own is one."""
BIT_NOISE = 0.5
"""Standard deviation of a base's bits, about: what a window's mean owes to chance."""
ROBUST = 0.6744897501960817
"""Median of the absolute value of a standard normal number."""


def find_regions(
    record: str,
    acgt: np.ndarray,
    pairs: np.ndarray,
    bits: np.ndarray | None,
    *,
    start: int,
    window: int,
    length: int,
) -> tuple[Region, ...]:
    """Regions of composition, which tile `[start, start + length)` of a record; then those of bits, which do so too,
    where bits change.

    Args:
        record: Its name.
        acgt: (W, 4) letters A, C, G, T of each window; windows without any belong to the region before them.
        pairs: (W, 10) pairs of bases in each window, as `longseq.tasks.summarize.windows.both_strands` counts them.
        bits: (W,) bits a base, NaN where there are none; None without a model.
        start: First base of the first window.
        window: Letters a window, of which the last may have fewer.
        length: Letters in all.
    """
    if length == 0:
        return ()

    def regions(kind: Literal["composition", "bits"], cuts: list[int]) -> list[Region]:
        found = []
        for first, last in pairwise([0, *cuts, len(acgt)]):
            a, c, g, t = (int(n) for n in acgt[first:last].sum(axis=0, dtype=np.int64))
            where = Interval(record=record, start=start + first * window, end=start + min(last * window, length))
            gc = 100 * (g + c) / (a + c + g + t) if a + c + g + t else None
            skew = (g - c) / (g + c) if g + c else None
            mean = None if bits is None else _mean(bits[first:last], acgt[first:last].sum(axis=1))
            found.append(Region(kind=kind, interval=where, gc=gc, gc_skew=skew, bits=mean))
        return found

    changes = [] if bits is None else _cuts(acgt, pairs, bits)
    return (
        *regions("composition", _cuts(acgt, pairs)),
        *(regions("bits", changes) if changes else ()),
    )


def _mean(bits: np.ndarray, weight: np.ndarray) -> float | None:
    known = ~np.isnan(bits)
    total = float(weight[known].sum())
    return float((bits[known].astype(np.float64) * weight[known]).sum()) / total if total else None


def _cuts(acgt: np.ndarray, pairs: np.ndarray, bits: np.ndarray | None = None) -> list[int]:
    """First windows of regions of bits, or of composition without them, but the first one; ascending."""
    if len(acgt) < 2 * SHORTEST:
        return []
    joined = -(-len(acgt) // MOST)
    starts = np.arange(0, len(acgt), joined)

    def sums(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, starts, axis=0)

    if bits is not None:
        known = ~np.isnan(bits)
        weight = acgt.sum(axis=1) * known
        total = sums(weight)
        called = np.flatnonzero(total)
        if not len(called):
            return []
        means = sums(np.where(known, bits, 0) * weight)[called] / total[called]
        found = _cheapest(means[None], np.array([BIT_NOISE]) / np.sqrt(total.max()), total[called])
    else:
        letters = sums(acgt.astype(np.int64)).astype(np.float64)
        called = np.flatnonzero(letters.sum(axis=1))
        found = change_points(letters[called], sums(pairs.astype(np.int64))[called].astype(np.float64))
    return [int(starts[called[cut]]) for cut in found]


def change_points(acgt: np.ndarray, pairs: np.ndarray) -> list[int]:
    """Indices at which a new composition begins, ascending, of (W, 4) letters and (W, 10) pairs of windows that each
    hold a letter."""
    if len(acgt) < 2 * SHORTEST:
        return []
    _, c, g, _ = acgt.T
    called, strong = acgt.sum(axis=1), g + c
    skew = np.divide(g - c, strong, out=np.zeros(len(acgt)), where=strong > 0)
    noise = 1 / np.sqrt(max(float(np.median(strong)), 1.0))
    in_all = pairs.sum(axis=1)
    if len(acgt) >= PAIRS_FROM and in_all.all():
        share = pairs[:, :-1] / in_all[:, None]  # the last one follows from the others
        p = pairs[:, :-1].sum(axis=0) / in_all.sum()
        return _cheapest(np.vstack([share.T, skew]), np.append(np.sqrt(p * (1 - p) / in_all.max()), noise), called)
    p = float(strong.sum() / called.sum())
    return _cheapest(np.stack([strong / called, skew]), np.array([np.sqrt(p * (1 - p) / called.max()), noise]), called)


def _cheapest(series: np.ndarray, chance: np.ndarray, size: np.ndarray) -> list[int]:
    """Cuts of (F, W) figures whose noise is (F,) `chance` at least, of windows of (W,) letters."""
    if series.shape[1] < 2 * SHORTEST:
        return []
    steps = np.diff(series, axis=1) / np.sqrt(2)
    # What a change here and there does not move.
    spread = np.maximum(np.median(np.abs(steps), axis=1) / ROBUST, np.maximum(chance, 1e-9))[:, None]
    series = (series - series.mean(axis=1, keepdims=True)) / spread
    if len(series) > 2:
        inside = np.clip(steps / spread, -3, 3)
        variance, turned = np.linalg.eigh(inside @ inside.T / inside.shape[1])
        series = (turned.T @ series) / np.sqrt(np.maximum(variance, FAINTEST))[:, None]
    return _partition(series, size / size.max(), PENALTY * (len(series) + 1) * np.log(series.shape[1]))


def _partition(series: np.ndarray, weight: np.ndarray, penalty: float) -> list[int]:
    """Cheapest cuts of (F, W) series under weights (W,), every piece at least SHORTEST long."""
    windows = series.shape[1]
    w = np.concatenate([[0.0], np.cumsum(weight)])
    x = np.concatenate([np.zeros((len(series), 1)), np.cumsum(series * weight, axis=1)], axis=1)
    squares = np.concatenate([[0.0], np.cumsum((series**2 * weight).sum(axis=0))])
    # A candidate start s has a column (s, w[s], best[s] - squares[s], x[s]).
    table, kept = np.empty((3 + len(series), windows + 1)), 0
    best = np.full(windows + 1, np.inf)
    best[0] = -penalty
    previous = np.zeros(windows + 1, np.int64)
    worse = None
    for end in range(SHORTEST, windows + 1):
        start = end - SHORTEST
        table[:3, kept] = start, w[start], best[start] - squares[start]
        table[3:, kept] = x[:, start]
        kept += 1
        starts, w_s, rest = table[:3, :kept]
        cost = rest - ((x[:, end, None] - table[3:, :kept]) ** 2).sum(axis=0) / (w[end] - w_s)
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
