"""Cumulative GC skew of a long or circular record (Grigoriev 1998), held against chance."""

from __future__ import annotations

import numpy as np

from longseq.report.gathered.bins import skew_walk
from longseq.results.dna import CumulativeSkew

LONG = 100_000
"""Bases from which a record that is not declared circular has a cumulative skew."""
FEWEST = 8
"""Windows from which an excursion means anything."""
SHUFFLES = 199
SEED = 0
MOST = 2_000
"""Steps of the running sum; neighbouring windows of a record that has more are joined."""


def cumulative_skew(acgt: np.ndarray, *, start: int, window: int, length: int, circular: bool) -> CumulativeSkew | None:
    """Excursion of the running sum of G - C over (W, 4) windows; None for a short record that is not circular.

    The mean is taken out of the steps, so that the sum returns to zero: the amplitude of a circle does not depend on
    where it was opened, and a record with more G than C throughout shows none. The null shuffles the windows, with a
    fixed seed.
    """
    if not (length >= LONG or circular) or len(acgt) < FEWEST:
        return None
    if not acgt.any():
        return None
    found = skew_walk(acgt, MOST)
    walk = found.sums
    amplitude = _amplitude(walk)
    shuffled = np.random.default_rng(SEED).permuted(np.tile(found.steps, (SHUFFLES, 1)), axis=1)
    null = _amplitude(np.cumsum(shuffled, axis=1))
    ends = start + np.minimum(np.append(found.first[1:], len(acgt)) * window, length)
    return CumulativeSkew(
        amplitude=float(amplitude),
        null_mean=float(null.mean()),
        p=float((1 + np.count_nonzero(null >= amplitude)) / (1 + SHUFFLES)),
        lowest=int(ends[np.argmin(walk)]),
        highest=int(ends[np.argmax(walk)]),
    )


def _amplitude(walk: np.ndarray) -> np.ndarray:
    return np.maximum(walk.max(axis=-1), 0) - np.minimum(walk.min(axis=-1), 0)
