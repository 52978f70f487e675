"""How far probabilities can be believed: one temperature for all classes, and what is out of range.

What a fit comes to is told of records that it has not seen: groups of them take turns at being left out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

BINS = 15
"""Of confidence, in the calibration error (Guo et al. 2017, section 3)."""
COLDEST, HOTTEST = 0.05, 20.0
"""Between which a temperature is looked for."""
ACCEPTED = 0.95
"""Share of the records it was fitted on that a threshold lets pass."""
FOLDS = 5
"""Parts of the groups, each in its turn judged by a fit to the others."""
METHOD = (
    "temperature scaling (Guo et al. 2017, section 4.2), its negative log-likelihood least on held-out records; out of "
    "range below the 5 % quantile of their log-sum-exp of logits (Liu et al. 2020, eq. 4); nats, error and accepted "
    "are of each fifth of their groups by a fit to the others"
)
_GOLDEN = (math.sqrt(5) - 1) / 2


def log_sum_exp(logits: np.ndarray) -> np.ndarray:
    """(N,) of logits (N, C): the negative free energy, higher for what looks like what was learned from."""
    top = logits.max(-1)
    return top + np.log(np.exp(logits - top[..., None]).sum(-1))


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Probabilities (…, C) of logits (…, C)."""
    scaled = logits / temperature
    return np.exp(scaled - log_sum_exp(scaled)[..., None])


def sigmoid(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Probability of each label by itself."""
    return 0.5 * (1 + np.tanh(logits / (2 * temperature)))  # never overflows


def nats(logits: np.ndarray, truth: np.ndarray, temperature: float = 1.0) -> float:
    """Mean negative log-likelihood of `truth`: (N,) classes, or (N, C) 0 and 1 of labels by themselves."""
    scaled = logits / temperature
    if truth.ndim == 2:
        return float((np.logaddexp(0, scaled) - truth * scaled).mean())
    return float((log_sum_exp(scaled) - scaled[np.arange(len(truth)), truth]).mean())


def fit_temperature(logits: np.ndarray, truth: np.ndarray) -> float:
    """The temperature at which `nats` is least, `COLDEST` to `HOTTEST`: it has one minimum in 1 / T, which golden
    section finds (Guo et al. 2017, section 4.2)."""
    logits = logits.astype(float)
    low, high = 1 / HOTTEST, 1 / COLDEST
    for _ in range(40):
        a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if nats(logits, truth, 1 / a) <= nats(logits, truth, 1 / b):
            high = b
        else:
            low = a
    return 2 / (low + high)


def calibration_error(probabilities: np.ndarray, truth: np.ndarray) -> float:
    """Expected calibration error of (N, C): mean gap of confidence and accuracy (Guo et al. 2017, eq. 3)."""
    confidence, right = probabilities.max(1), probabilities.argmax(1) == truth
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(place, right - confidence, BINS)
    return float(np.abs(gaps).sum() / len(truth)) if len(truth) else math.nan


def threshold(logits: np.ndarray) -> float:
    """The log-sum-exp that all but 1 - `ACCEPTED` of (N, C) reach."""
    return float(np.quantile(log_sum_exp(logits.astype(float)), 1 - ACCEPTED))


class Judged(NamedTuple):
    """What a fit comes to on records that it was not fitted on; NaN where there is one group only."""

    nats: float
    """Mean negative log-likelihood, with the temperature."""
    error: float
    """`calibration_error`, with the temperature; NaN of labels by themselves."""
    accepted: float
    """Share that the threshold lets pass: `ACCEPTED` if other groups are like those fitted on. NaN of labels."""


def judged(logits: np.ndarray, truth: np.ndarray, groups: np.ndarray) -> Judged:
    """Each part of the groups (N,) by the temperature and the threshold of the others, all parts together.

    truth: (N,) classes, or (N, C) 0 and 1. Groups are never divided: a fit has seen nothing of those it is judged by.
    """
    fold = folds(groups, FOLDS)
    if len(truth) == 0 or fold.max() == 0:
        return Judged(math.nan, math.nan, math.nan)
    logits, single = logits.astype(float), truth.ndim == 1
    scaled, passed = np.empty_like(logits), np.zeros(len(logits), bool)
    for k in range(int(fold.max()) + 1):
        out = fold == k
        scaled[out] = logits[out] / fit_temperature(logits[~out], truth[~out])
        if single:
            passed[out] = log_sum_exp(logits[out]) >= threshold(logits[~out])
    error = calibration_error(softmax(scaled), truth) if single else math.nan
    return Judged(nats(scaled, truth), error, float(passed.mean()) if single else math.nan)


def folds(groups: np.ndarray, number: int) -> np.ndarray:
    """(N,) the fold of each record, 0 to `number` - 1: groups (N,) stay whole, the largest first to the fold that has
    least; fewer folds where there are fewer groups."""
    _, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    fold, filled = np.zeros(len(sizes), np.int64), np.zeros(min(number, max(len(sizes), 1)), np.int64)
    for group in np.argsort(-sizes, kind="stable").tolist():
        fold[group] = filled.argmin()
        filled[fold[group]] += sizes[group]
    return fold[place]
