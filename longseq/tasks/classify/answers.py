"""Scores of a head as probabilities, verdicts and regions."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longseq.metrics.calibration import ACCEPTED, log_sum_exp, sigmoid, softmax
from longseq.results.findings import UNKNOWN

if TYPE_CHECKING:
    from longseq.model import HeadConfig, RecordModel
    from longseq.model.calibration import Calibration

CHANGE = 3.0
"""Nats that a change of class must bring: odds of 20 to one."""


class Head(NamedTuple):
    """What answers, as far as its scores have a meaning."""

    head_config: HeadConfig
    labels: tuple[str, ...]


class Region(NamedTuple):
    """Windows `[first, last)` in a row that are of one class."""

    first: int
    last: int
    label: str
    probability: float | None
    """Mean probability of the class in these windows; None of `unknown`, which has none."""


class Answers:
    """What scores (…, C) mean; without a calibration logits are taken as they are, and nothing is unknown."""

    def __init__(self, model: RecordModel | Head, calibration: Calibration | None):
        self.head_config, self.labels, self.calibration = model.head_config, model.labels, calibration
        self.task = model.head_config.task
        self._offset, self._scale = np.array(model.head_config.offset), np.array(model.head_config.scale)
        self._temperature = calibration.temperature if calibration else 1.0

    def values(self, scores: np.ndarray) -> np.ndarray:
        """(…, C) float64 probabilities of the classes, of each label by itself, or numbers."""
        scores = scores.astype(np.float64)
        if self.task == "regress":
            return scores * self._scale + self._offset
        return (softmax if self.task == "classify" else sigmoid)(scores, self._temperature)

    def unknown(self, scores: np.ndarray) -> np.ndarray:
        """(…) bool: out of range, by the calibration's threshold."""
        limit = None if self.calibration is None else self.calibration.in_range_above
        if limit is None or self.task != "classify":
            return np.zeros(scores.shape[:-1], bool)
        return log_sum_exp(scores.astype(np.float64)) < limit

    def verdict(self, scores: np.ndarray) -> str | None:
        """Of scores (C,): the most probable class or `unknown`, the labels of probability 1/2 and more joined by `;`;
        None of numbers."""
        if self.task == "regress":
            return None
        if self.task == "multilabel":
            return ";".join(n for n, p in zip(self.labels, self.values(scores), strict=True) if p >= 0.5)
        return UNKNOWN if self.unknown(scores) else self.nearest(scores)

    def nearest(self, scores: np.ndarray) -> str:
        """Of scores (C,): the most probable class, in range or not."""
        return self.labels[int(scores.argmax())]

    def regions(self, scores: np.ndarray) -> list[Region]:
        """Where the class changes along windows (W, C): the row of classes whose summed log-probability, less `CHANGE`
        for each change, is largest (Viterbi 1967); of labels and numbers no region.

        Where the calibration tells what is out of range, `unknown` is a class as well. A window out of range says
        nothing of the others, but that such a one is as rare in them as in what was calibrated on, and one in range as
        rare in `unknown`. One without scores (NaN) belongs to those around it, and says nothing of them.
        """
        silent = np.isnan(scores).any(-1)
        if self.task != "classify" or silent.all():
            return []
        values, names = self.values(scores), self.labels
        said = np.log(np.maximum(values, 1e-300))
        if self.calibration is not None and self.calibration.in_range_above is not None:
            out, names = self.unknown(scores)[:, None], (*names, UNKNOWN)
            common, rare = math.log(ACCEPTED), math.log(1 - ACCEPTED)
            strange = np.where(out, common, rare - math.log(len(self.labels)))
            said = np.concatenate([np.where(out, rare, said + common), strange], 1)
        said[silent] = 0.0
        best, came = said[0], np.zeros(said.shape, np.int32)
        for w in range(1, len(said)):
            top = int(best.argmax())
            stays = best >= best[top] - CHANGE
            came[w] = np.where(stays, np.arange(said.shape[1]), top)
            best = np.where(stays, best, best[top] - CHANGE) + said[w]
        path = np.zeros(len(said), np.int64)
        path[-1] = best.argmax()
        for w in range(len(said) - 1, 0, -1):
            path[w - 1] = came[w, path[w]]
        cuts = [0, *(np.flatnonzero(np.diff(path)) + 1).tolist(), len(path)]
        known = len(self.labels)
        means = [float(np.nanmean(values[a:b, path[a]])) if path[a] < known else None for a, b in pairwise(cuts)]
        return [Region(a, b, names[path[a]], mean) for (a, b), mean in zip(pairwise(cuts), means, strict=True)]
