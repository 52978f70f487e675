"""How far probabilities can be believed: one temperature for all classes, and what is out of range."""

from __future__ import annotations

import math

import numpy as np

BINS = 15
"""Of confidence, in the calibration error (Guo et al. 2017, section 3)."""
COLDEST, HOTTEST = 0.05, 20.0
"""Between which a temperature is looked for."""
ACCEPTED = 0.95
"""Share of the records it was fitted on that a threshold lets pass."""
METHOD = (
    "temperature scaling (Guo et al. 2017, section 4.2), its negative log-likelihood least on held-out records; out of "
    "range below the 5 % quantile of their log-sum-exp of logits (Liu et al. 2020, eq. 4)"
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
    for _ in range(60):
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
