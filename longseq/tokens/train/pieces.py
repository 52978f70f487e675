"""What a tokenizer learns from: pieces of records, cut where the records say and nowhere else, and a sample of them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import numpy as np

from longseq.tokens.dna import DnaTokenizer

TEXT_PIECE = 4096
"""Code points of a piece of text: it ends before the white space that follows."""
SHORTEST, LONGEST = 64, 192
"""Bases of a piece of DNA: an unbroken record would be one word, whose training takes the square of its length."""


def text_pieces(letters: Iterable[str]) -> Iterator[str]:
    """A document in pieces of about `TEXT_PIECE`, each from a blank or a line feed on; one without any is cut hard.

    How the letters come changes nothing. No byte-level token holds a letter and the blank after it, so nothing that
    could be learned is cut.
    """
    held = ""
    for part in letters:
        held, at = held + part, 0
        while len(held) - at >= 2 * TEXT_PIECE:
            end = _blank(held, at)
            yield held[at:end]
            at = end
        held = held[at:]
    if held:
        yield held


def _blank(text: str, start: int) -> int:
    for at in range(start + TEXT_PIECE, start + 2 * TEXT_PIECE - 1):
        if text[at] in " \n" and not text[at - 1].isspace():
            return at
    return start + TEXT_PIECE


def dna_pieces(letters: Iterable[bytes], tokenizer: DnaTokenizer, random: np.random.Generator) -> Iterator[str]:
    """Runs of A, C, G and T of a record in pieces of `SHORTEST` to `LONGEST` bases, cut at random places.

    A cut at regular places would fall on the same base of a repeat again and again. How the letters come changes
    nothing. Where a run ends the piece does.

    Raises:
        AlphabetError: a byte outside the alphabet.
    """
    held, at, size = "", 0, _size(random)
    blanks = bytes(letter if letter in b"ACGT" else ord(" ") for letter in range(256))
    for part in letters:
        ids, _ = tokenizer.encode(part, at)
        at += len(part)
        held += tokenizer.decode(ids).translate(blanks).decode()
        first = 0
        while len(held) - first >= size:
            yield from held[first : first + size].split()
            first, size = first + size, _size(random)
        held = held[first:]
    yield from held.split()


def _size(random: np.random.Generator) -> int:
    return int(random.integers(SHORTEST, LONGEST + 1))


class Sample:
    """Pieces of at most so many letters in all, drawn evenly from a stream whose end is not known.

    Each piece draws a number; those with the lowest are kept (a bottom-k sketch, Cohen and Kaplan 2007, by letters).
    """

    def __init__(self, letters: int, random: np.random.Generator):
        self._most, self._random = letters, random
        self._kept: list[tuple[float, int, str]] = []  # the highest number first
        self._bound = 1.0
        self.letters = self.kept = 0
        """Letters seen and kept."""
        self.pieces = 0
        """Pieces seen."""

    def add(self, piece: str) -> None:
        number = self._random.random()
        self.letters += len(piece)
        self.pieces += 1
        if number >= self._bound:
            return
        heapq.heappush(self._kept, (-number, self.pieces, piece))
        self.kept += len(piece)
        while self.kept > self._most and len(self._kept) > 1:
            highest, _, gone = heapq.heappop(self._kept)
            self.kept -= len(gone)
            self._bound = -highest

    def __iter__(self) -> Iterator[str]:
        """Those kept, in the order in which they came."""
        for _, _, piece in sorted(self._kept, key=lambda kept: kept[1]):
            yield piece
