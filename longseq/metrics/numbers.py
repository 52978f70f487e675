"""How well numbers were foretold."""

from __future__ import annotations

import math

import numpy as np


def r2(truth: np.ndarray, found: np.ndarray) -> float:
    """Share of the variance that is explained, 1 - sum of squared errors / sum of squares about the mean.

    truth, found (N,). 0 for always saying the mean, below for worse; NaN where `truth` does not vary.
    """
    truth, found = np.asarray(truth, float), np.asarray(found, float)
    spread = ((truth - truth.mean()) ** 2).sum() if len(truth) else 0.0
    return float(1 - ((truth - found) ** 2).sum() / spread) if spread > 0 else math.nan


def rmse(truth: np.ndarray, found: np.ndarray) -> float:
    """Root of the mean squared error, in units of `truth`; NaN of nothing."""
    errors = np.asarray(truth, float) - np.asarray(found, float)
    return math.sqrt((errors**2).mean()) if errors.size else math.nan


def pearson(truth: np.ndarray, found: np.ndarray) -> float:
    """Correlation of two rows of numbers (N,); NaN where either does not vary."""
    a = np.asarray(truth, float) - np.mean(truth)
    b = np.asarray(found, float) - np.mean(found)
    spread = math.sqrt((a**2).sum() * (b**2).sum())
    return float((a * b).sum() / spread) if spread > 0 else math.nan


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """(N,) float64 places of values (N,) in rising order, from 1; of equal ones the mean."""
    _, place, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[place]


def bits_per_token(nats: float, tokens: float) -> float:
    """Mean cost of a token in bits, from the sum of their negative log-likelihoods in nats; NaN of no token."""
    return nats / math.log(2) / tokens if tokens else math.nan
