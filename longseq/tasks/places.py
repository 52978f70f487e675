"""Records as ids for a model, and where their tokens stand: in units of so many tokens, in sections or sentences."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from longseq.errors import InputError
from longseq.model import Checkpoint
from longseq.records import Layout, Record
from longseq.tasks.document.structure import blocks
from longseq.tasks.sentence_places import Sentences
from longseq.tasks.sources import Asked, Source, asked_of, warn_of_clipping
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import DnaSubwords

CUT = 2048
"""Tokens of words handed on at once."""
BASES = 4
"""Ids below are A, C, G and T, by letter and in words of DNA."""


class Places(Protocol):
    """Units of a record: consecutive tokens that are reported together. They tile it, white space between sentences
    aside."""

    def add(self, starts: np.ndarray | None, ends: np.ndarray | None, count: int) -> None:
        """`count` more tokens; (count,) int64 letters where they start and end, None where each is one letter."""

    def finish(self, length: int) -> None:
        """The record has so many letters."""

    def units(self, tokens: np.ndarray) -> np.ndarray:
        """(t,) the unit of each of these token numbers."""
        ...

    def spans(self) -> np.ndarray:
        """(U, 2) int64 `[start, end)` of the units in letters; one at least."""
        ...


class Every:
    """Units of `width` tokens from the record's start, the last one shorter; None: the record is one."""

    def __init__(self, width: int | None = None):
        self.width, self.tokens, self.length = width, 0, 0
        self._ends = array("q")
        self._by_letter = True

    def add(self, starts: np.ndarray | None, ends: np.ndarray | None, count: int) -> None:
        if ends is not None:
            self._by_letter = False
            if self.width is not None:
                last = np.arange(self.width - 1 - self.tokens % self.width, count, self.width)
                self._ends.frombytes(ends[last].tobytes())
        self.tokens += count

    def finish(self, length: int) -> None:
        self.length = length

    def units(self, tokens: np.ndarray) -> np.ndarray:
        return np.zeros_like(tokens) if self.width is None else tokens // self.width

    def spans(self) -> np.ndarray:
        number = 1 if self.width is None else max(-(-self.tokens // self.width), 1)
        if self._by_letter and self.width is not None:
            ends = np.minimum(np.arange(1, number + 1) * self.width, self.length)
        else:
            ends = np.append(np.array(self._ends, np.int64)[: number - 1], self.length)
        return np.stack([np.append(0, ends[:-1]), ends], 1).astype(np.int64)


class Sections:
    """Units are the sections of a document, as its headings part it. `text` says which, before the tokens come."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self._starts, self._first = array("q"), array("q")
        self._length = self._tokens = 0

    def text(self, pieces: Iterable[str], layout: Layout | None = None) -> Iterator[str]:
        """The pieces, cut at the ends of lines; each section is known when its first line is given."""
        at = 0
        for block in blocks(pieces, layout):
            if not self.titles or block.section != self.titles[-1]:
                self.titles.append(block.section)
                self._starts.append(at)
            at += len(block.text)
            yield block.text

    def add(self, starts: np.ndarray | None, ends: np.ndarray | None, count: int) -> None:
        assert starts is not None
        known = np.array(self._starts, np.int64)
        section = np.searchsorted(known, np.maximum.accumulate(starts), "right") - 1
        for row in np.flatnonzero(np.diff(section, prepend=len(self._first) - 1)):
            self._first.extend([self._tokens + int(row)] * (int(section[row]) + 1 - len(self._first)))
        self._tokens += count

    def finish(self, length: int) -> None:
        self._length = length

    def units(self, tokens: np.ndarray) -> np.ndarray:
        return np.searchsorted(np.array(self._first, np.int64), tokens, "right") - 1

    def spans(self) -> np.ndarray:
        starts = np.array(self._starts or [0], np.int64)
        return np.stack([starts, np.append(starts[1:], self._length)], 1)


def walk(
    sources: Iterable[Source],
    checkpoint: Checkpoint,
    asked: Asked,
    *,
    column: str | None = None,
) -> Iterator[tuple[Source, Record]]:
    """All records of all sources. A file that cannot be read, or holds what the model does not read, is a fault of its
    source and does not stop the others."""
    wanted = "dna" if reads_dna(checkpoint) else "document"
    options: dict[str, Any] = {"text": column, "on_unknown": asked.on_unknown}
    for source in sources:
        try:
            with source.open(**options) as reading:
                if reading.kind != wanted:
                    said = {"dna": "sequences", "document": "documents"}
                    raise InputError(
                        where=source.file,
                        expected=f"{said[wanted]}, which {checkpoint.name} reads",
                        found=said[reading.kind],
                        remedy="--model names another model",
                    )
                for record in asked_of(source, reading, asked, **options):
                    yield source, record
        except InputError as error:
            source.fault = error


def reads_dna(checkpoint: Checkpoint) -> bool:
    return isinstance(checkpoint.tokenizer, DnaTokenizer | DnaSubwords)


def known_ids(checkpoint: Checkpoint) -> np.ndarray:
    """(V,) bool: ids that say something; of DNA, those of A, C, G and T and of words of them."""
    known = np.ones(checkpoint.config.vocabulary, bool)
    tokenizer = checkpoint.tokenizer
    if isinstance(tokenizer, DnaTokenizer | DnaSubwords):
        known[BASES : len(tokenizer.alphabet.letters)] = False
    return known


def id_pieces(record: Record, checkpoint: Checkpoint, places: Sequence[Places]) -> Iterator[np.ndarray]:
    """Ids (t,) of a record's tokens, in order, without an end; `places` are told of them before they are given."""
    tokenizer = checkpoint.tokenizer
    pieces: Iterable = record.pieces
    if isinstance(tokenizer, DnaTokenizer):
        length = 0
        for letters in pieces:
            ids = tokenizer.encode(letters, length)[0]
            length += len(ids)
            for place in places:
                place.add(None, None, len(ids))
            yield ids.astype(np.int64)
    else:
        for place in places:
            if isinstance(place, Sections | Sentences):
                pieces = place.text(pieces, record.layout)
        length = reached = 0
        for chunk in tokenizer.chunks(iter(pieces), CUT):
            length = chunk.end
            if len(chunk):
                assert chunk.offsets is not None
                ends = np.maximum.accumulate(np.append(reached, chunk.offsets[:, 1]))[1:]
                reached = int(ends[-1])
                for place in places:
                    place.add(chunk.offsets[:, 0].astype(np.int64), ends, len(chunk))
                yield chunk.ids.astype(np.int64)
    record.length = length
    warn_of_clipping(record)
    for place in places:
        place.finish(length)
