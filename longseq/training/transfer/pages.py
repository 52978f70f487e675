"""Pages: consecutive segments of a document, as many as a teacher reads in one window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from longseq.records import Interval
from longseq.training.batch import Batch
from longseq.training.transfer.bundles import Shuffled, padded_ids
from longseq.training.transfer.texts import Texts


class Shape(NamedTuple):
    """Of a page."""

    segment: int
    """Tokens of a segment, special ones included; only a page's last may be shorter."""
    most: int
    """Segments at most, two or more."""
    special: int
    """Special tokens of a segment: one at either end, or none."""


class Pages:
    """A source whose passages are whole steps: pages of about one length, in random order.

    Each segment but a document's first ends one page, and its text is what is asked: once an epoch.
    """

    carry = 1

    def __init__(self, texts: Texts, rows: np.ndarray, shape: Shape, *, batch: int, seed: int):
        """`rows` (N,) are those to read, in order, `batch` the tokens of a step; one page at least."""
        self._texts, self._shape, self._seed, self.width = texts, shape, seed, batch
        self.pages = cut(texts, rows, shape)
        self.lengths = np.array([texts.lengths[page].sum() for page in self.pages], np.int64)
        self.tokens = int(self.lengths.sum())
        self._order = Shuffled(np.arange(len(self.pages)), self.lengths, batch, (seed, 5))
        self.passages = len(self._order)

    def batch(self, numbers: Sequence[int], phase: int = 0) -> Batch:
        return self.read(np.concatenate([self._order.rows(number) for number in numbers]))

    def read(self, pages: np.ndarray) -> Batch:
        """These pages, padded on the right to the longest; the text of each one's last segment weighs."""
        ids, inside = padded_ids([np.concatenate([self._ids(row) for row in self.pages[page]]) for page in pages])
        size, special = self._shape.segment, self._shape.special
        place = np.arange(ids.shape[1])
        last = inside.sum(1, keepdims=True) - 1
        asked = inside & (place // size == last // size)
        if special:
            asked &= (place % size != 0) & (place % size != size - 1) & (place != last)
        return Batch(ids, asked.astype(np.float32), mask=inside)

    def sample(self, tokens: int) -> list[np.ndarray]:
        """Pages drawn at random, about so many tokens but one page at least, of about one length in each step."""
        some = np.random.default_rng([self._seed, 6]).permutation(len(self.pages))
        some = some[: max(int((np.cumsum(self.lengths[some]) <= tokens).sum()), 1)]
        some, found = some[np.argsort(self.lengths[some], kind="stable")], []
        while len(some):
            size = max(self.width // int(self.lengths[some[-1]]), 1)
            found.append(some[-size:])
            some = some[:-size]
        return found

    def places(self, number: int, phase: int = 0) -> list[Interval]:
        """Where the pages of a step stand."""
        ends = ((self._texts.place(int(page[0])), self._texts.place(int(page[-1]))) for page in self._of(number))
        return [Interval(record=first[0], start=first[1], end=last[2], strand="+") for first, last in ends]

    def _of(self, number: int) -> list[np.ndarray]:
        return [self.pages[page] for page in self._order.rows(number)]

    def _ids(self, row: int) -> np.ndarray:
        return self._texts.ids(int(row))


def cut(texts: Texts, rows: np.ndarray, shape: Shape) -> list[np.ndarray]:
    """The rows of each page, two at least. Segments left out between others are passed over."""
    rows = rows[~texts.sentence[rows]]
    # Nothing follows what is shorter than a segment.
    apart = (texts.document[rows[1:]] != texts.document[rows[:-1]]) | (texts.lengths[rows[:-1]] < shape.segment)
    found = []
    for run in np.split(rows, np.flatnonzero(apart) + 1):
        found += [run[max(end - shape.most, 0) : end] for end in range(2, len(run) + 1)]
    return found
