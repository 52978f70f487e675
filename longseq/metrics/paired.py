"""Whether one way of telling is better than another on the same examples: the difference and its interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

DRAWS = 1000
LEVEL = 0.95
DRAWN = 1 << 20
"""Values drawn at a time."""


class Estimate(NamedTuple):
    """A mean and how far chance may have moved it."""

    value: float
    low: float
    """Of an interval of `LEVEL`."""
    high: float


class Difference(NamedTuple):
    """A figure of ours less the same figure of theirs."""

    value: float
    low: float
    """Of an interval of `LEVEL`."""
    high: float


def difference(
    figure: Callable[[np.ndarray, np.ndarray], float],
    truth: np.ndarray,
    ours: np.ndarray,
    theirs: np.ndarray,
    blocks: np.ndarray,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Difference:
    """`figure(truth, scores)` of `ours` less that of `theirs`, both (N, …), with a percentile interval of paired
    bootstrap draws (Efron and Tibshirani 1993, chapter 13).

    Whole blocks (N,) are drawn, with replacement: examples of one block (a stretch of a genome) are not independent.
    Draws of which the figure is undefined are left out; NaN where all are.
    """
    draw = np.random.default_rng(seed)
    _, place, sizes = np.unique(blocks, return_inverse=True, return_counts=True)
    rows = np.split(np.argsort(place, kind="stable"), np.cumsum(sizes)[:-1])
    found = []
    for _ in range(draws):
        taken = np.concatenate([rows[b] for b in draw.integers(0, len(rows), len(rows))])
        found.append(figure(truth[taken], ours[taken]) - figure(truth[taken], theirs[taken]))
    defined = np.array(found)[~np.isnan(found)]
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(defined, [tail, 100 - tail]) if len(defined) else (np.nan, np.nan)
    return Difference(figure(truth, ours) - figure(truth, theirs), float(low), float(high))


def mean(values: np.ndarray, *, draws: int = DRAWS, seed: int = 0) -> Estimate:
    """Mean of values (N,) of independent examples, with a percentile interval of bootstrap draws; NaN of nothing.

    Given the differences of two ways of telling on the same examples it is paired.
    """
    values = np.asarray(values, np.float64)
    if not len(values):
        return Estimate(float("nan"), float("nan"), float("nan"))
    draw, at_once = np.random.default_rng(seed), max(1, DRAWN // len(values))
    sizes = (min(at_once, draws - done) for done in range(0, draws, at_once))
    found = [values[draw.integers(0, len(values), (size, len(values)))].mean(1) for size in sizes]
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(np.concatenate(found), [tail, 100 - tail])
    return Estimate(float(values.mean()), float(low), float(high))
