"""Called intervals: runs of bases of which one class is the likeliest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from longseq.config import require
from longseq.records import opposite_class

BACKGROUND = 0
"""The class that is never called: what a base is when it is nothing else."""


class Call(NamedTuple):
    start: int
    end: int
    """Behind the record's end where the interval crosses the origin of a circular one."""
    label: int
    probability: float
    """Mean of the class over the interval."""

    def moved(self, start: int) -> Call:
        """The same where what was read begins at `start`."""
        return self._replace(start=self.start + start, end=self.end + start)


class Caller:
    """Takes the probabilities of a record in any pieces; gives intervals as soon as they are over; those of a circular
    record at its end, since the last one may go on at its start."""

    def __init__(self, *, shortest: int = 1, threshold: float = 0.0, circular: bool = False):
        """`shortest` bases and a mean probability of `threshold` are the least of an interval.

        Raises:
            ConfigError: values that cannot be.
        """
        require(shortest >= 1, "min-length", shortest, ">= 1 base")
        require(0 <= threshold <= 1, "threshold", threshold, "0 to 1")
        self._shortest, self._threshold, self._circular = shortest, threshold, circular
        self._at = self._start = 0
        self._label, self._sum = BACKGROUND, 0.0
        self._held: list[tuple[int, int, int, float]] = []
        """Runs of a circular record: start, end, label, sum."""

    def add(self, probabilities: np.ndarray, known: np.ndarray) -> Iterator[Call]:
        """(T, C) of the next T bases, and (T,) bool: a base that is not known, as N, is in no interval; exhaust it."""
        if not len(probabilities):
            return
        labels = np.where(known, probabilities.argmax(1), BACKGROUND)
        of_label = np.take_along_axis(probabilities, labels[:, None], 1)[:, 0].astype(np.float64)
        firsts = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
        sums = np.add.reduceat(of_label, firsts)
        for first, label, total in zip(firsts.tolist(), labels[firsts].tolist(), sums.tolist(), strict=True):
            if label != self._label:
                yield from self._end(self._at + first)
                self._start, self._label, self._sum = self._at + first, label, 0.0
            self._sum += total
        self._at += len(labels)

    def finish(self) -> Iterator[Call]:
        """What is left at the record's end."""
        yield from self._end(self._at)
        self._start, self._label, self._sum = self._at, BACKGROUND, 0.0
        runs, self._held = self._held, []
        if len(runs) > 1:
            first, last = runs[0], runs[-1]
            if first[0] == 0 and last[1] == self._at and first[2] == last[2]:
                runs = [*runs[1:-1], (last[0], self._at + first[1], last[2], last[3] + first[3])]
        for run in runs:
            yield from self._call(*run)

    def _end(self, end: int) -> Iterator[Call]:
        if self._label == BACKGROUND:
            return
        run = (self._start, end, self._label, self._sum)
        if self._circular:
            self._held.append(run)
        else:
            yield from self._call(*run)

    def _call(self, start: int, end: int, label: int, total: float) -> Iterator[Call]:
        size = end - start
        if size >= self._shortest:
            mean = min(total / size, 1.0)
            if mean >= self._threshold:
                yield Call(start, end, label, mean)


def stranded(labels: Sequence[str]) -> list[tuple[str, Literal["+", "-", "."]]]:
    """Name and strand of each class: `exon+` is exon on `+` where `exon-` is a class too."""
    found: list[tuple[str, Literal["+", "-", "."]]] = []
    for label in labels:
        other = opposite_class(label)
        if other != label and other in labels:
            found.append((label[:-1], "+" if label[-1] == "+" else "-"))
        else:
            found.append((label, "."))
    return found
