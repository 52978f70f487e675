"""Pairs as rows of a step: source, separator, target and end, padded on the right; only target and end are asked for.

A causal encoder never sees what stands to the right, and padding weighs nothing: it changes neither loss nor gradient.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longseq.records import Interval
from longseq.training.batch import Batch
from longseq.training.order import of_like_length
from longseq.training.pairs.store import Pairs


class PairRows:
    """Some pairs, whole. Not shuffled: in order of their length."""

    carry = 1

    def __init__(self, pairs: Pairs, which: np.ndarray, *, batch: int = 0, seed: int = 0, shuffle: bool = True):
        """`which` (N,) are the pairs; `batch` is how many tokens a step reads, `seed` that of the order."""
        self._pairs, self._seed, self._shuffle = pairs, seed, shuffle
        self._which = which if shuffle else which[np.argsort((pairs.end - pairs.start)[which], kind="stable")]
        self.lengths = (pairs.end - pairs.start)[self._which]
        """(N,) tokens of a row."""
        self.asked = (pairs.end - pairs.middle)[self._which]
        """(N,) tokens of a target and its end."""
        self.passages, self.width = len(which), int(self.lengths.max())
        self._rows = max(batch // self.width, 1)
        self._epochs: dict[int, np.ndarray] = {}

    def batch(self, numbers: Sequence[int], phase: int = 0) -> Batch:
        places = [self._place(number) for number in numbers]
        ids = np.zeros((len(places), int(self.lengths[places].max())), np.int64)
        weight = np.zeros(ids.shape, np.float32)
        for row, at in enumerate(places):
            pair, length = self._which[at], int(self.lengths[at])
            ids[row, :length] = self._pairs.ids[self._pairs.start[pair] : self._pairs.end[pair]]
            weight[row, length - int(self.asked[at]) : length] = 1
        return Batch(ids, weight)

    def targets(self) -> np.ndarray:
        """(N,) digests of the targets."""
        return self._pairs.target[self._which]

    def places(self, number: int, phase: int = 0) -> list[Interval]:
        """The line of the pair, and its row's tokens."""
        at = self._place(number)
        name = self._pairs.where(int(self._which[at]))
        return [Interval(record=name, start=0, end=int(self.lengths[at]), strand="+")]

    def _place(self, number: int) -> int:
        epoch, at = divmod(number, self.passages)
        return int(self._order(epoch)[at])

    def _order(self, epoch: int) -> np.ndarray:
        if not self._shuffle:
            return np.arange(self.passages)
        if epoch not in self._epochs:
            draw = np.random.default_rng([self._seed, 0, epoch])
            order = of_like_length(self.lengths, self._rows, draw, epoch * self.passages)
            self._epochs = {k: v for k, v in self._epochs.items() if k == epoch - 1} | {epoch: order}
        return self._epochs[epoch]
