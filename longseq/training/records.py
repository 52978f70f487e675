"""Whole records of a store, by position, whatever their tokens are: letters of DNA, DNA in words, or documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from longseq.records import Alphabet, Interval
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import DnaSubwords
from longseq.training.columns import numbers
from longseq.training.documents import Documents
from longseq.training.store import Store

BASES = 4
"""Ids below are A, C, G and T, by letter and in words of DNA."""


class Records(Protocol):
    """R records, each a sequence of tokens."""

    digest: str
    """Of their store."""
    noun: str
    """What one is called: record, document."""
    unit: str
    """What its positions count: base, token."""
    lengths: np.ndarray
    """(R,) int64, tokens."""
    known: np.ndarray
    """(V,) bool: ids that say something; a window without any of them teaches nothing."""
    complement: np.ndarray | None
    """(V,) the id of each id's complement; None: read forwards only."""

    @property
    def ids(self) -> Sequence[str]:
        """(R) names."""
        ...

    def read(self, record: int, start: int, end: int) -> np.ndarray:
        """Ids (end - start,) of tokens `[start, end)` of a record."""
        ...

    def place(self, record: int, start: int, end: int) -> Interval:
        """Where tokens `[start, end)` of a record stand, in its letters."""
        ...

    def notes(self) -> list[str]:
        """What the reader should know of them."""
        ...


def records_of(store: Store | Documents, alphabet: Alphabet) -> Records:
    """The records of a store: words, or letters of that alphabet."""
    return WordRecords(store) if isinstance(store, Documents) else LetterRecords(store, DnaTokenizer(alphabet))


class LetterRecords:
    """Letters of DNA; what the store left out, the gaps, is N again."""

    noun, unit = "record", "base"

    def __init__(self, store: Store, tokenizer: DnaTokenizer):
        self._store, self.digest = store, store.digest
        self._unknown = tokenizer.alphabet.letters.index(b"N")
        self.lengths = numbers(store.records, "length")
        self.known = np.arange(tokenizer.vocabulary) < BASES
        self.complement: np.ndarray | None = tokenizer.complement(np.arange(tokenizer.vocabulary))
        rows = np.arange(len(self.lengths) + 1)
        self._first = np.searchsorted(store.stretches.record, rows)  # stretches stand in order of record

    @property
    def ids(self) -> Sequence[str]:
        return self._store.ids

    def read(self, record: int, start: int, end: int) -> np.ndarray:
        found = np.full(end - start, self._unknown, np.uint8)
        stretches = self._store.stretches
        for s in range(self._first[record], self._first[record + 1]):
            begin = int(stretches.start[s])
            a, b = max(start, begin), min(end, begin + int(stretches.length[s]))
            if b > a:
                offset = int(stretches.offset[s]) - begin
                found[a - start : b - start] = self._store.read(offset + a, offset + b)
        return found

    def place(self, record: int, start: int, end: int) -> Interval:
        return Interval(record=self._store.ids[record], start=start, end=end, strand="+")

    def notes(self) -> list[str]:
        return [f"note: {where} ends early" for where in self._store.truncated()]


class WordRecords:
    """Documents, or DNA in words: the tokens of their text, without the end that a store keeps behind each."""

    unit = "token"
    complement: np.ndarray | None = None

    def __init__(self, store: Documents):
        tokenizer = store.tokenizer
        self._store, self.digest = store, store.digest
        self.known = np.ones(tokenizer.vocabulary, bool)
        tokens = numbers(store.records, "tokens")
        self._offset = np.cumsum(tokens) - tokens
        if isinstance(tokenizer, DnaSubwords):
            self.noun, self.lengths = "record", tokens
            self.known[BASES : len(tokenizer.alphabet.letters)] = False
        else:
            self.noun, self.lengths = "document", tokens - ((tokens > 0) & (tokenizer.end is not None))
            self.known[list(tokenizer.special)] = False

    @property
    def ids(self) -> Sequence[str]:
        return self._store.ids

    def read(self, record: int, start: int, end: int) -> np.ndarray:
        offset = int(self._offset[record])
        return self._store.read(offset + start, offset + end)

    def place(self, record: int, start: int, end: int) -> Interval:
        begin = int(self._offset[record])
        return self._store.place(record, begin, begin + start, begin + end)

    def notes(self) -> list[str]:
        return self._store.notes()
