"""Examples with targets: records read from their start, or in passages, the same ones for the same numbers.

A record of more than `carry` windows is cut into passages of even length, each an example of its own with the label of
the record; the windows of a passage follow one another, with the state carried. In each epoch passages come in an order
drawn at random, those of a step of like length, each from a strand drawn at random where there are two, and moved along
its record by a distance drawn at random (`data.shift`): of a passage `[start + d, end + d)` is read, as far as the
record has it. Windows of one batch are padded on the right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from longseq.records import Interval
from longseq.training.batch import Batch
from longseq.training.config import DataConfig
from longseq.training.order import of_like_length
from longseq.training.painting import NOTHING, Painting
from longseq.training.records import Records


class Window(NamedTuple):
    """What one row of a batch reads."""

    passage: int
    start: int
    """First token, in the record."""
    end: int
    reverse: bool
    """Whether it is read from the other strand, last token first."""
    whole: int
    """Tokens of the passage."""


class _Epoch(NamedTuple):
    """What was drawn for one reading of the records, (P,) each."""

    order: np.ndarray
    reverse: np.ndarray
    start: np.ndarray
    end: np.ndarray


class Examples(ABC):
    """Passages of some records. Not shuffled: in order, read forwards."""

    def __init__(
        self,
        records: Records,
        which: np.ndarray,
        config: DataConfig,
        batch: int,
        *,
        shuffle: bool = True,
        whole: bool = False,
        bounds: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        """`which` (N,) are rows of `records`; `batch` is how many tokens a step reads.

        `whole` leaves each record in one passage, of as many windows as it takes; `bounds` are first and last of each
        record's tokens that are read, (N,) and (N,), None: all.
        """
        self._records, self._which, self._config = records, which, config
        self._batch, self._shuffle, self._bounds = batch, shuffle, bounds
        first, last = (np.zeros_like(which), records.lengths[which]) if bounds is None else bounds
        lengths = last - first
        self.width = int(min(config.window, lengths.max()))
        self._rows = max(batch // self.width, 1)
        longest = -(-int(lengths.max()) // self.width)
        self.carry = longest if whole else min(config.carry, longest)
        parts = np.ones_like(lengths) if whole else -(-lengths // (self.width * self.carry))
        self._example = np.repeat(np.arange(len(which)), parts)
        """(P,) place in `which` of each passage."""
        nth = np.arange(len(self._example)) - np.repeat(np.cumsum(parts) - parts, parts)
        offset = self._first = first[self._example]
        self._last = last[self._example]
        self._start = offset + nth * lengths[self._example] // parts[self._example]
        self._end = offset + (nth + 1) * lengths[self._example] // parts[self._example]
        self.passages = len(self._example)
        self._epochs: dict[int, _Epoch] = {}

    @property
    def tokens(self) -> int:
        """Of an epoch."""
        return int(self.lengths().sum())

    def lengths(self) -> np.ndarray:
        """(P,) tokens of each passage, in order."""
        return self._end - self._start

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        drawn = [self._window(number, phase) for number in numbers]
        length = max(1, *(window.end - window.start for window in drawn))
        ids = np.zeros((len(drawn), length), np.int64)
        mask = np.zeros(ids.shape, bool)
        for row, window in enumerate(drawn):
            found = self._read(window)
            ids[row, : len(found)] = found
            mask[row, : len(found)] = True
        weight, targets = self._asked(drawn, self._records.known[ids] & mask)
        return Batch(ids, weight, targets, mask)

    def places(self, number: int, phase: int) -> list[Interval]:
        window = self._window(number, phase)
        if window.end <= window.start:
            return []
        place = self._records.place(self._record(window), window.start, window.end)
        return [replace(place, strand="-") if window.reverse else place]

    @abstractmethod
    def _asked(self, drawn: list[Window], known: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Weight and targets of windows; `known` (B, T) is where a token stands that says something."""

    def _record(self, window: Window) -> int:
        return int(self._which[self._example[window.passage]])

    def _read(self, window: Window) -> np.ndarray:
        """Ids (T,) in the order in which they are read."""
        found = self._records.read(self._record(window), window.start, window.end)
        if not window.reverse:
            return found
        assert self._records.complement is not None
        return self._records.complement[found[::-1]]

    def _window(self, number: int, phase: int) -> Window:
        """Window `phase` of the passage of a number, counted on from epoch to epoch."""
        index, at = divmod(number, self.passages)
        epoch = self._epoch(index)
        passage = int(epoch.order[at])
        first, last = int(epoch.start[passage]), int(epoch.end[passage])
        if epoch.reverse[passage]:
            end = max(last - phase * self.width, first)
            return Window(passage, max(end - self.width, first), end, True, last - first)
        start = min(first + phase * self.width, last)
        return Window(passage, start, min(start + self.width, last), False, last - first)

    def _epoch(self, index: int) -> _Epoch:
        if index not in self._epochs:
            plain = _Epoch(np.arange(self.passages), np.zeros(self.passages, bool), self._start, self._end)
            found = self._drawn(index) if self._shuffle else plain
            self._epochs = {k: v for k, v in self._epochs.items() if k == index - 1} | {index: found}
        return self._epochs[index]

    def _drawn(self, index: int) -> _Epoch:
        draw = np.random.default_rng([self._config.seed, 0, index])
        order = of_like_length(self.lengths(), self._rows, draw, index * self.passages)
        both = self._config.both_strands and self._records.complement is not None
        reverse = (draw.random(self.passages) < 0.5) & both
        most = np.clip(self.lengths() - 1, 0, self._config.shift)  # a passage keeps a token
        moved = draw.integers(-most, most + 1)
        start, end = np.maximum(self._start + moved, self._first), np.minimum(self._end + moved, self._last)
        return _Epoch(order, reverse, start, end)


class TokenExamples(Examples):
    """Every token that says something weighs the same; what is asked of them is said elsewhere."""

    def at(self, width: int) -> TokenExamples:
        """The same records in windows of another width."""
        config = replace(self._config, window=width, grow=0)
        return TokenExamples(
            self._records, self._which, config, self._batch, shuffle=self._shuffle, bounds=self._bounds
        )

    def _asked(self, drawn: list[Window], known: np.ndarray) -> tuple[np.ndarray, None]:
        return known.astype(np.float32), None


class RecordExamples(Examples):
    """Targets of whole records: asked at the end of every window, of all that was read of the passage so far.

    So every window learns. The windows of a passage share its weight by their tokens; one whose tokens say nothing has
    none.
    """

    def ask(self, targets: np.ndarray, weight: np.ndarray) -> RecordExamples:
        """`targets` (N, …) and `weight` (N,) of the records."""
        self.targets, self._weight = targets, weight.astype(np.float32)
        return self

    def _asked(self, drawn: list[Window], known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = np.array([(window.end - window.start) / max(window.whole, 1) for window in drawn])
        examples = self._example[[window.passage for window in drawn]]
        weight = self._weight[examples] * share.astype(np.float32) * known.any(1)
        return weight.astype(np.float32), self.targets[examples]


class BaseExamples(Examples):
    """Targets of every base; where no A, C, G or T stands, or the painting has nothing, nothing is asked."""

    def ask(self, painting: Painting, weight: np.ndarray) -> BaseExamples:
        """`weight` (C,) of the bases of each class."""
        self._painting, self._weight = painting, weight.astype(np.float32)
        return self

    def _asked(self, drawn: list[Window], known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        targets = np.zeros(known.shape, np.int64)
        for row, window in enumerate(drawn):
            found = self._painting.classes(self._record(window), window.start, window.end)
            targets[row, : len(found)] = self._painting.mirror[found[::-1]] if window.reverse else found
        asked = targets != NOTHING
        targets = np.where(asked, targets, 0)
        return self._weight[targets] * (known & asked), targets
