"""How well classes were told: figures of a table of counts, which can be added up, and of the order of scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from longseq.metrics.numbers import mean_ranks


def confusion(truth: np.ndarray, found: np.ndarray, classes: int) -> np.ndarray:
    """(C, C) int64 counts: rows are the true classes, columns those found. Tables of parts add up to that of the whole.

    `truth` and `found` are whole numbers of one shape, 0 to C - 1.
    """
    pairs = np.asarray(truth, np.int64).ravel() * classes + np.asarray(found, np.int64).ravel()
    return np.bincount(pairs, minlength=classes * classes).reshape(classes, classes)


def accuracy(table: np.ndarray) -> float:
    """Share of what was told right; NaN of nothing."""
    total = table.sum()
    return float(np.trace(table) / total) if total else math.nan


def majority(table: np.ndarray) -> float:
    """The accuracy of always saying the most frequent true class: what `accuracy` has to beat."""
    total = table.sum()
    return float(table.sum(1).max() / total) if total else math.nan


def f1(table: np.ndarray) -> np.ndarray:
    """(C,) F1 of each class, 2 TP / (2 TP + FP + FN); NaN of a class that is neither there nor found."""
    right = np.diag(table).astype(float)
    sizes = table.sum(0) + table.sum(1)
    return np.divide(2 * right, sizes, out=np.full(len(table), math.nan), where=sizes > 0)


def macro_f1(table: np.ndarray) -> float:
    """Mean F1 of the classes that are there or were found; NaN of nothing."""
    each = f1(table)
    return float(np.nanmean(each)) if np.isfinite(each).any() else math.nan


def matthews(table: np.ndarray) -> float:
    """Matthews correlation, R_K for several classes (Gorodkin 2004, eq. 8): 1 right, 0 chance, 0 where undefined."""
    table = table.astype(float)
    total, there, found = table.sum(), table.sum(1), table.sum(0)
    spread = (total**2 - (there**2).sum()) * (total**2 - (found**2).sum())
    return float((np.trace(table) * total - there @ found) / math.sqrt(spread)) if spread > 0 else 0.0


def auroc(truth: np.ndarray, scores: np.ndarray) -> float:
    """Area under the ROC curve: how often a positive scores above a negative, ties counted half (Fawcett 2006).

    truth (N,) bool, scores (N,), NaN without a positive or without a negative.
    """
    truth = np.asarray(truth, bool)
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return math.nan
    return float((mean_ranks(scores)[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def auprc(truth: np.ndarray, scores: np.ndarray) -> float:
    """Average precision: precision at each threshold, weighted by the recall it adds, without interpolation.

    truth (N,) bool, scores (N,). A score that knows nothing comes to the share of positives; NaN without a positive.
    """
    truth = np.asarray(truth, bool)
    if not truth.any():
        return math.nan
    order = np.argsort(-np.asarray(scores, float), kind="stable")
    ordered = np.asarray(scores, float)[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # tied scores enter together
    right = np.cumsum(truth[order])[ends]
    return float((np.diff(right, prepend=0) / truth.sum() * (right / (ends + 1))).sum())


def one_against_rest(figure: Callable[[np.ndarray, np.ndarray], float], truth: np.ndarray, scores: np.ndarray) -> float:
    """Mean of `figure` (auroc, auprc) over the classes that it is defined for.

    truth (N, C) bool, scores (N, C); NaN where it is defined for none.
    """
    each = [figure(truth[:, c], scores[:, c]) for c in range(truth.shape[1])]
    each = [value for value in each if not math.isnan(value)]
    return sum(each) / len(each) if each else math.nan


def exact_match(truth: np.ndarray, found: np.ndarray) -> float:
    """Share of rows (N, …) that are right in every place; NaN of nothing."""
    same = np.asarray(truth) == np.asarray(found)
    return float(same.reshape(len(same), -1).all(1).mean()) if len(same) else math.nan
