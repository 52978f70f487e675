"""Windows: which bases a step sees, a function of the seed and the step alone, so that a resume needs no more.

In each epoch the stretches are shuffled and laid end to end in a ring, one N between neighbours. The ring is cut from
a random offset into passages of `carry` windows of W bases, so that every base is read once an epoch, at other window
borders each time; only the last passage of an epoch is shorter. Short records share a window, separated by an N.
Each passage is read from a strand, and under a renaming of the bases, drawn at random. N, other IUPAC codes and
padding weigh nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from longseq.records import Interval
from longseq.training import renaming
from longseq.training.batch import Batch
from longseq.training.config import DataConfig
from longseq.training.store import Store, Stretches


@dataclass(frozen=True)
class _Epoch:
    """What was drawn for one reading of the stretches."""

    order: np.ndarray
    """(S,) stretches in the order of the ring."""
    ends: np.ndarray
    """(S,) where each ends in the ring, its N included."""
    turn: int
    """Where the first passage begins in the ring."""
    passages: np.ndarray
    """(P,) passages in the order in which they are read."""
    reverse: np.ndarray
    """(P,) bool, by place in the ring: read from the reverse strand."""
    renamed: np.ndarray
    """(P,) renaming of the bases, by place in the ring; 0: none."""


class Windows:
    """Windows of some stretches of a store. Not shuffled: in order, from the start, strands in turn."""

    def __init__(self, store: Store, stretches: Stretches, config: DataConfig, *, shuffle: bool = True):
        self._store, self._stretches, self._config, self._shuffle = store, stretches, config, shuffle
        self.width, self.carry = config.window, config.carry
        self.span = self.width * self.carry
        """Bases of a passage."""
        self.ring = stretches.bases + len(stretches.length)
        self.passages = -(-self.ring // self.span)
        """Passages of an epoch."""
        letters = config.alphabet.letters
        self._n = letters.index(b"N")
        self._complement = renaming.table(letters, renaming.COMPLEMENT)
        choices = renaming.ANY if config.relabel_by == "any" else renaming.PAIRED
        self._renamings = [renaming.table(letters, choice) for choice in choices]
        self._epochs: dict[int, _Epoch] = {}

    def at(self, width: int) -> Windows:
        """The same stretches in windows of another width."""
        return Windows(self._store, self._stretches, replace(self._config, window=width, grow=0), shuffle=self._shuffle)

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        """Window `phase` of each of these passages, counted on from epoch to epoch."""
        ids = np.full((len(numbers), self.width), self._n, np.int64)
        weight = np.zeros(ids.shape, np.float32)
        for row, number in enumerate(numbers):
            found = self._ids(number, phase)
            ids[row, : len(found)] = found
            weight[row, : len(found)] = found < 4
        return Batch(ids, weight)

    def places(self, number: int, phase: int) -> list[Interval]:
        """Where the bases of a window come from, in order of the record, and from which strand."""
        epoch, place = self._draw(number)
        strand: Literal["+", "-"] = "-" if epoch.reverse[place] else "+"
        found = []
        for s, a, b in self._pieces(epoch, *self._bounds(epoch, place, phase)):
            name, start = self._store.records[int(self._stretches.record[s])]["id"], int(self._stretches.start[s])
            b = min(b, int(self._stretches.length[s]))
            if b > a:
                found.append(Interval(record=name, start=start + a, end=start + b, strand=strand))
        return found

    def _ids(self, number: int, phase: int) -> np.ndarray:
        epoch, place = self._draw(number)
        parts = []
        for s, a, b in self._pieces(epoch, *self._bounds(epoch, place, phase)):
            offset, whole = int(self._stretches.offset[s]), int(self._stretches.length[s])
            parts.append(self._store.read(offset + a, offset + min(b, whole)))
            if b > whole:
                parts.append(np.full(1, self._n, np.uint8))
        ids = np.concatenate(parts) if parts else np.zeros(0, np.uint8)
        if epoch.reverse[place]:
            ids = self._complement[ids[::-1]]
        if epoch.renamed[place]:
            ids = self._renamings[epoch.renamed[place]][ids]
        return ids

    def _bounds(self, epoch: _Epoch, place: int, phase: int) -> tuple[int, int]:
        """`[first, last)` of a window in the ring; in reverse the end of the passage comes first."""
        begin, end = place * self.span, min((place + 1) * self.span, self.ring)
        if epoch.reverse[place]:
            first, last = end - (phase + 1) * self.width, end - phase * self.width
        else:
            first, last = begin + phase * self.width, begin + (phase + 1) * self.width
        first, last = max(first, begin), min(last, end)
        return epoch.turn + first, epoch.turn + max(first, last)

    def _pieces(self, epoch: _Epoch, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """Stretch, and `[a, b)` in it; b is one past the stretch's end where its N is meant too."""
        while first < last:
            at = first % self.ring
            slot = int(np.searchsorted(epoch.ends, at, side="right"))
            stretch, end = int(epoch.order[slot]), int(epoch.ends[slot])
            begin = end - int(self._stretches.length[stretch]) - 1
            take = min(last - first, end - at)
            yield stretch, at - begin, at - begin + take
            first += take

    def _draw(self, number: int) -> tuple[_Epoch, int]:
        """The epoch of a passage and its place in the ring."""
        index, at = divmod(number, self.passages)
        epoch = self._epochs.get(index)
        if epoch is None:
            epoch = self._drawn(index) if self._shuffle else self._plain()
            self._epochs = {k: v for k, v in self._epochs.items() if k == index - 1} | {index: epoch}
        return epoch, int(epoch.passages[at])

    def _drawn(self, index: int) -> _Epoch:
        config, count = self._config, self.passages
        draw = np.random.default_rng([config.seed, 0, index])
        order = draw.permutation(len(self._stretches.length))
        turn = int(draw.integers(self.ring))
        passages = draw.permutation(count)
        reverse = (draw.random(count) < 0.5) & config.both_strands
        renamed = draw.integers(1, len(self._renamings), count) * (draw.random(count) < config.relabel)
        return _Epoch(order, self._ends(order), turn, passages, reverse, renamed.astype(np.uint8))

    def _plain(self) -> _Epoch:
        order, passages = np.arange(len(self._stretches.length)), np.arange(self.passages)
        reverse = (passages % 2 == 1) & self._config.both_strands
        return _Epoch(order, self._ends(order), 0, passages, reverse, np.zeros(self.passages, np.uint8))

    def _ends(self, order: np.ndarray) -> np.ndarray:
        return np.cumsum(self._stretches.length[order] + 1)
