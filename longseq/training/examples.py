"""Examples with targets: records read from their start, or in passages, the same ones for the same numbers.

A record of more than `carry` windows is cut into passages of even length, each an example of its own with the label of
the record; the windows of a passage follow one another, with the state carried. In each epoch passages come in an order
drawn at random, each from a strand drawn at random. Windows of one batch are padded on the right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from longseq.records import Interval
from longseq.training.batch import Batch
from longseq.training.config import DataConfig
from longseq.training.painting import Painting
from longseq.training.records import Records

KNOWN = 4
"""Ids below are A, C, G and T."""


class Examples(ABC):
    """Passages of some records. Not shuffled: in order, read forwards."""

    def __init__(
        self,
        records: Records,
        which: np.ndarray,
        config: DataConfig,
        complement: np.ndarray,
        *,
        shuffle: bool = True,
        whole: bool = False,
        bounds: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        """`which` (N,) are rows of `records`; `whole` leaves each in one passage, of as many windows as it takes.

        `complement` (vocabulary,) is the id of each id's complement; `bounds` are first and last of each record's
        letters that are read, (N,) and (N,), None: all.
        """
        self._records, self._which, self._config, self._shuffle = records, which, config, shuffle
        self._complement = complement
        first, last = (np.zeros_like(which), records.lengths[which]) if bounds is None else bounds
        lengths = last - first
        self.width = int(min(config.window, lengths.max()))
        longest = -(-int(lengths.max()) // self.width)
        self.carry = longest if whole else min(config.carry, longest)
        parts = np.ones_like(lengths) if whole else -(-lengths // (self.width * self.carry))
        self._example = np.repeat(np.arange(len(which)), parts)
        """(P,) place in `which` of each passage."""
        nth = np.arange(len(self._example)) - np.repeat(np.cumsum(parts) - parts, parts)
        offset = first[self._example]
        self._start = offset + nth * lengths[self._example] // parts[self._example]
        self._end = offset + (nth + 1) * lengths[self._example] // parts[self._example]
        self.passages = len(self._example)
        self._epochs: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    @property
    def bases(self) -> int:
        return int((self._end - self._start).sum())

    def lengths(self) -> np.ndarray:
        """(P,) tokens of each passage, in order."""
        return self._end - self._start

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        drawn = [self._window(number, phase) for number in numbers]
        length = max(1, *(end - start for _, start, end, _ in drawn))
        ids = np.zeros((len(drawn), length), np.int64)
        mask = np.zeros(ids.shape, bool)
        for row, (passage, start, end, reverse) in enumerate(drawn):
            found = self._records.read(int(self._which[self._example[passage]]), start, end)
            ids[row, : end - start] = self._complement[found[::-1]] if reverse else found
            mask[row, : end - start] = True
        weight, targets = self._asked(drawn, (ids < KNOWN) & mask)
        return Batch(ids, weight, targets, mask)

    def places(self, number: int, phase: int) -> list[Interval]:
        passage, start, end, reverse = self._window(number, phase)
        name = self._records.ids[int(self._which[self._example[passage]])]
        return [Interval(record=name, start=start, end=end, strand="-" if reverse else "+")] if end > start else []

    @abstractmethod
    def _asked(self, drawn: list[tuple[int, int, int, bool]], known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weight and targets of windows (passage, start, end, reverse); `known` (B, T) is where A, C, G or T stand."""

    def _window(self, number: int, phase: int) -> tuple[int, int, int, bool]:
        """The passage of a number, `[start, end)` of its window in the record, and whether it is read reversed."""
        index, at = divmod(number, self.passages)
        order, reverse = self._epoch(index)
        passage = int(order[at])
        first, last = int(self._start[passage]), int(self._end[passage])
        if reverse[passage]:
            end = max(last - phase * self.width, first)
            return passage, max(end - self.width, first), end, True
        start = min(first + phase * self.width, last)
        return passage, start, min(start + self.width, last), False

    def _epoch(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Order and strands of the passages of an epoch."""
        if not self._shuffle:
            return np.arange(self.passages), np.zeros(self.passages, bool)
        if index not in self._epochs:
            draw = np.random.default_rng([self._config.seed, 0, index])
            order = draw.permutation(self.passages)
            reverse = (draw.random(self.passages) < 0.5) & self._config.both_strands
            self._epochs = {k: v for k, v in self._epochs.items() if k == index - 1} | {index: (order, reverse)}
        return self._epochs[index]


class RecordExamples(Examples):
    """Targets of whole records: asked at the end of every window, of all that was read of the passage so far.

    So every window learns. The windows of a passage share its weight by their tokens; without A, C, G or T it has none.
    """

    def ask(self, targets: np.ndarray, weight: np.ndarray) -> RecordExamples:
        """`targets` (N, …) and `weight` (N,) of the records."""
        self.targets, self._weight = targets, weight.astype(np.float32)
        return self

    def _asked(self, drawn: list[tuple[int, int, int, bool]], known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        passages = np.array([passage for passage, *_ in drawn])
        share = np.array([end - start for _, start, end, _ in drawn]) / self.lengths()[passages]
        examples = self._example[passages]
        weight = self._weight[examples] * share.astype(np.float32) * known.any(1)
        return weight.astype(np.float32), self.targets[examples]


class BaseExamples(Examples):
    """Targets of every base; where no A, C, G or T stands, nothing is asked."""

    def ask(self, painting: Painting, weight: np.ndarray) -> BaseExamples:
        """`weight` (C,) of the bases of each class."""
        self._painting, self._weight = painting, weight.astype(np.float32)
        return self

    def _asked(self, drawn: list[tuple[int, int, int, bool]], known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        targets = np.zeros(known.shape, np.int64)
        for row, (passage, start, end, reverse) in enumerate(drawn):
            found = self._painting.classes(int(self._which[self._example[passage]]), start, end)
            targets[row, : end - start] = self._painting.mirror[found[::-1]] if reverse else found
        return self._weight[targets] * known, targets
