"""What the sentences of a text are worth, along it, and its sections: few figures, however long it is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from longseq.results.salience import Salience, SectionShare
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.parts import parts
from longseq.tasks.document.priors import Outline
from longseq.tasks.document.rows import Rows

STRETCHES = 400
"""Of a text at most; where there are no more sentences to choose from, each has one of its own."""
SECTIONS = 400
"""Listed at most."""


class Stretches:
    """The highest worth in each stretch, gathered while the parts of a text are ranked.

    Args:
        rows: Of all sentences.
        keep: (rows,) bool: those that could be chosen.
        length: Code points of the text.
    """

    def __init__(self, rows: Rows, keep: np.ndarray, length: int):
        kept = np.flatnonzero(keep).astype(np.int32)
        self._first = np.arange(len(kept))
        if len(kept) > STRETCHES:
            stretch = rows.column("start", keep) * STRETCHES // length
            self._first = np.flatnonzero(np.diff(stretch, prepend=-1))
        self._after = np.append(self._first[1:], [len(kept)] if len(kept) else []).astype(np.int64)
        self._top = np.zeros(len(self._first))
        ends = [rows.row(kept[last - 1]) for last in self._after]
        self._start = tuple(int(rows.row(kept[first])["start"]) for first in self._first)
        self._end = tuple(int(row["start"]) + int(row["length"]) for row in ends)

    def add(self, first: int, worth: np.ndarray) -> float:
        """Take the worth ((n,) not negative) of the sentences from number `first` of those kept on; the highest."""
        best = float(worth.max(initial=0.0))
        if best > 0:
            low = int(np.searchsorted(self._after, first, side="right"))
            high = int(np.searchsorted(self._first, first + len(worth)))
            cuts = np.maximum(self._first[low:high] - first, 0)
            np.maximum(self._top[low:high], np.maximum.reduceat(worth, cuts) / best, out=self._top[low:high])
        return best

    def salience(self, chosen: Sequence[float]) -> Salience:
        """All of it, with the worth of each sentence of the summary."""
        return Salience(
            start=self._start,
            end=self._end,
            sentences=tuple((self._after - self._first).tolist()),
            worth=tuple(_rounded(value) for value in self._top.tolist()),
            chosen=tuple(map(_rounded, chosen)),
        )


def section_shares(
    collection: Collection, outline: Outline, words: np.ndarray, counted: np.ndarray, order: Sequence[int]
) -> tuple[tuple[SectionShare, ...], int]:
    """The sections, outer ones first, and how many are left out so that they are not too many.

    Args:
        collection: Documents that were read.
        outline: Of their sections.
        words: (rows,) of the sentences.
        counted: (rows,) bool: those that are prose, lists or quotations.
        order: Rows of the summary's sentences.
    """
    if not any(outline.paths):
        return (), 0
    found = list(parts(collection, outline, "outline"))
    depths = np.array([part.title.count(" > ") if part.title else 0 for part in found])
    level = max(int(depths.max(initial=0)), 0)
    while level and (depths <= level).sum() > SECTIONS:
        level -= 1
    shown = [part for part, depth in zip(found, depths, strict=True) if depth <= level][:SECTIONS]
    shares = []
    for part in shown:
        first, last = collection.rows.row(part.first), collection.rows.row(part.last - 1)
        shares.append(
            SectionShare(
                title=part.title,
                document=int(first["document"]),
                start=int(first["start"]),
                end=int(last["start"] + last["length"]),
                words=int(words[part.first : part.last].sum()),
                sentences=int(counted[part.first : part.last].sum()),
                chosen=tuple(range(bisect_left(order, part.first), bisect_left(order, part.last))),
            )
        )
    return tuple(shares), len(found) - len(shown)


def _rounded(value: float) -> float:
    return round(value, 4)
