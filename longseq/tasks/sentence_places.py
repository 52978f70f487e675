"""The sentences of a document as units of its tokens: each is known before its first token comes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import numpy as np

from longseq.records import Layout
from longseq.tasks.document.candidates import find_sentences


class Sentences:
    """Units are the sentences of a document, headings and list items among them. `text` says which, before the tokens
    come. A token belongs to the sentence of its last letter; one between two of them to the one before."""

    def __init__(self, language: str = "en"):
        """`language` is the ISO 639-1 code by which abbreviations are known."""
        self._language = language
        self.titles: list[str] = []
        """Of each sentence, the titles of the sections it lies in."""
        self._starts, self._ends, self._first = array("q"), array("q"), array("q")
        self._length = self._tokens = 0

    def text(self, pieces: Iterable[str], layout: Layout | None = None) -> Iterator[str]:
        """The letters of the pieces, cut where sentences begin."""
        held: list[str] = []
        given = read = 0

        def kept() -> Iterator[str]:
            nonlocal read
            for piece in pieces:
                held.append(piece)
                read += len(piece)
                yield piece

        for found in find_sentences(kept(), self._language, layout):
            start = found.sentence.start
            letters = "".join(held)
            held[:] = [letters[start - given :]]
            if start > given:
                yield letters[: start - given]
            given = start
            self._starts.append(start)
            self._ends.append(found.sentence.end)
            self.titles.append(found.section)
        yield "".join(held)

    def add(self, starts: np.ndarray | None, ends: np.ndarray | None, count: int) -> None:
        assert ends is not None
        unit = np.maximum(_before(self._starts, ends - 1), 0)
        for row in np.flatnonzero(np.diff(unit, prepend=len(self._first) - 1)):
            self._first.extend([self._tokens + int(row)] * (int(unit[row]) + 1 - len(self._first)))
        self._tokens += count

    def finish(self, length: int) -> None:
        self._length = length

    def units(self, tokens: np.ndarray) -> np.ndarray:
        return _before(self._first, tokens)

    def spans(self) -> np.ndarray:
        if not self._starts:
            return np.array([[0, self._length]], np.int64)
        return np.stack([np.array(self._starts, np.int64), np.array(self._ends, np.int64)], 1)


def _before(known: array, places: np.ndarray) -> np.ndarray:
    """The last of ascending numbers that is not above each of `places`, by its number; looked up where it lies."""
    if not known:
        return np.full(len(places), -1, np.int64)
    return np.searchsorted(np.frombuffer(known, np.int64), places, "right") - 1
