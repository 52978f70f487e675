"""Passages of documents: each a row of its own, so that no state and no gradient leaks from one into another.

A mixer has no way of forgetting in the middle of a window but for the start of a record, so documents do not share
rows. Instead the rows of one step are of like length, and no wider than the longest of them. A document of more than
`carry` windows is cut into passages, at other places each epoch; the windows of a passage follow one another, with the
state carried. The first token of a passage that begins inside a document is read and not scored: nothing stands before
it, but it is no beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from longseq.records import Interval
from longseq.training.batch import Batch
from longseq.training.config import DataConfig
from longseq.training.documents import Documents
from longseq.training.order import of_like_length
from longseq.training.store import Stretches

STEP = 64
"""Rows are padded to a multiple of so many tokens."""


class _Epoch(NamedTuple):
    order: np.ndarray
    """(P,) passages as they are read."""
    turn: np.ndarray
    """(S,) tokens by which the first passage of each document is shorter."""


class Passages:
    """Passages of some stretches of a store. Not shuffled: in order, cut from their start."""

    def __init__(
        self,
        store: Documents,
        stretches: Stretches,
        config: DataConfig,
        scored: np.ndarray,
        batch: int,
        *,
        shuffle: bool = True,
    ):
        """`scored` (V,) says which ids are asked for; `batch` is how many tokens a step reads."""
        self._store, self._stretches, self._config, self._scored = store, stretches, config, scored
        self._batch, self._shuffle = batch, shuffle
        longest = int(stretches.length.max(initial=1))
        self.width = min(config.window, -(-longest // STEP) * STEP)
        self._rows = max(batch // self.width, 1)
        self.carry = min(config.carry, -(-longest // self.width))
        self.span = self.width * self.carry
        """Tokens of a passage at most."""
        parts = -(-stretches.length // self.span)
        self._stretch = np.repeat(np.arange(len(parts)), parts)
        self._first = self.span * (np.arange(len(self._stretch)) - np.repeat(np.cumsum(parts) - parts, parts))
        self._slack = parts * self.span - stretches.length
        self.passages = len(self._stretch)
        self._epochs: dict[int, _Epoch] = {}

    def at(self, width: int) -> Passages:
        """The same stretches in windows of another width."""
        config = replace(self._config, window=width, grow=0)
        return Passages(self._store, self._stretches, config, self._scored, self._batch, shuffle=self._shuffle)

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        """Window `phase` of each of these passages, counted on from epoch to epoch."""
        drawn = [self._window(number, phase) for number in numbers]
        longest = max(end - start for _, start, end, _ in drawn)
        ids = np.zeros((len(drawn), min(max(-(-longest // STEP), 1) * STEP, self.width)), np.int64)
        weight = np.zeros(ids.shape, np.float32)
        for row, (stretch, start, end, opens) in enumerate(drawn):
            offset = int(self._stretches.offset[stretch])
            found = self._store.read(offset + start, offset + end)
            ids[row, : len(found)] = found
            weight[row, : len(found)] = self._scored[found]
            if not opens and len(found):
                weight[row, 0] = 0
        return Batch(ids, weight)

    def letters(self, number: int, phase: int) -> int:
        """Letters of the tokens scored in a window."""
        stretch, start, end, opens = self._window(number, phase)
        offset = int(self._stretches.offset[stretch])
        ids, letters = (read(offset + start, offset + end) for read in (self._store.read, self._store.letters))
        weight = self._scored[ids]
        if not opens and len(ids):
            weight = weight & (np.arange(len(ids)) > 0)
        return int(letters[weight].sum(dtype=np.int64))

    def places(self, number: int, phase: int) -> list[Interval]:
        """Where a window comes from, in letters of its document."""
        stretch, start, end, _ = self._window(number, phase)
        if end <= start:
            return []
        offset = int(self._stretches.offset[stretch])
        begin, document = offset - int(self._stretches.start[stretch]), int(self._stretches.record[stretch])
        return [self._store.place(document, begin, offset + start, offset + end)]

    def _window(self, number: int, phase: int) -> tuple[int, int, int, bool]:
        """Stretch, `[start, end)` in it, and whether its first token is scored: it goes on, or begins a document."""
        index, at = divmod(number, self.passages)
        epoch = self._epoch(index)
        passage = int(epoch.order[at])
        stretch = int(self._stretch[passage])
        first, last = self._bounds(passage, stretch, epoch)
        start = min(first + phase * self.width, last)
        opens = phase > 0 or (first == 0 and int(self._stretches.start[stretch]) == 0)
        return stretch, start, min(start + self.width, last), opens

    def _bounds(self, passage: int, stretch: int, epoch: _Epoch) -> tuple[int, int]:
        first = int(self._first[passage] - epoch.turn[stretch])
        return max(first, 0), min(first + self.span, int(self._stretches.length[stretch]))

    def _epoch(self, index: int) -> _Epoch:
        if index not in self._epochs:
            found = self._drawn(index) if self._shuffle else _Epoch(np.arange(self.passages), 0 * self._slack)
            self._epochs = {k: v for k, v in self._epochs.items() if k == index - 1} | {index: found}
        return self._epochs[index]

    def _drawn(self, index: int) -> _Epoch:
        """Places at which documents are cut, then an order of passages of like length."""
        draw = np.random.default_rng([self._config.seed, 0, index])
        turn = draw.integers(0, self._slack + 1)
        first = self._first - turn[self._stretch]
        lengths = np.minimum(first + self.span, self._stretches.length[self._stretch]) - np.maximum(first, 0)
        return _Epoch(of_like_length(lengths, self._rows, draw, index * self.passages), turn)
