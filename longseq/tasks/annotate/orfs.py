"""Open reading frames in all six frames of a record, linear or circular, with every place at which each may begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from longseq.formats.genetic_code import GeneticCode
from longseq.records import reverse_complement

STOP, START = 1, 2
"""Kinds of codons; 0 is any other, those with an ambiguous letter too."""


class Orf(NamedTuple):
    """A reading frame from its first possible beginning to its stop codon, the stop included.

    Of a circular record of L bases `start` is below L, and `end` may lie behind L: across the origin.
    """

    start: int
    end: int
    strand: Literal["+", "-"]
    begins: tuple[int, ...]
    """Where it may begin, the longest reading first: `start` of it on `+`, `end` of it on `-`."""
    open_begin: bool = False
    """It comes in from behind the record's end: the first of `begins` is no start codon."""
    open_end: bool = False
    """It leaves the record before a stop codon."""

    def spans(self) -> Iterator[tuple[int, int]]:
        """`[start, end)` for each of `begins`."""
        for begin in self.begins:
            yield (begin, self.end) if self.strand == "+" else (self.start, begin)


def find_orfs(letters: bytes, code: GeneticCode, *, shortest: int = 90, circular: bool = False) -> list[Orf]:
    """All open reading frames of which the longest reading has `shortest` bases, sorted by start, end and strand.

    At the ends of a linear record a frame may come in without a start codon and leave without a stop codon; it is then
    cut to whole codons. In a circular record none is longer than the record, and a frame without any stop codon is
    none. An N or another ambiguous letter neither begins nor ends a frame.

    Args:
        letters: (L,) any case, U as T.
        shortest: Bases, the stop codon included.
    """
    size, found = len(letters), []
    for strand in ("+", "-"):
        reading = letters if strand == "+" else reverse_complement(letters)
        kinds = _kinds(reading + reading if circular else reading, code)
        for frame in range(3):
            codons = _circular(kinds, frame, size) if circular else _linear(kinds[frame::3])
            for first, last, starts, open_begin, open_end in codons:
                if 3 * (last - first) < shortest:
                    continue
                begins = [frame + 3 * i for i in ([first] if open_begin else []) + starts]
                found.append(_orf(strand, begins, frame + 3 * last, size, open_begin, open_end))
    return sorted(found)


Codons = tuple[int, int, list[int], bool, bool]
"""First codon, codon behind the last, start codons, and whether it is open at its begin and end."""


def _linear(kinds: np.ndarray) -> Iterator[Codons]:
    """Frames among the codons of one frame of a linear record."""
    stops, starts = np.flatnonzero(kinds == STOP), np.flatnonzero(kinds == START)
    edges = np.concatenate([[-1], stops, [len(kinds)]])
    places = np.searchsorted(starts, edges)
    for k, stop in enumerate(edges[1:].tolist()):
        inside = starts[places[k] : places[k + 1]].tolist()
        open_begin, open_end = k == 0, k == len(edges) - 2
        last = stop if open_end else stop + 1
        if open_begin:
            if last > 0:
                yield 0, last, [i for i in inside if i > 0], True, open_end
        elif inside:
            yield inside[0], last, inside, False, open_end


def _circular(kinds: np.ndarray, frame: int, size: int) -> Iterator[Codons]:
    """Frames that end in the second turn of a record that is read twice."""
    kinds = kinds[frame::3]
    stops, starts = np.flatnonzero(kinds == STOP), np.flatnonzero(kinds == START)
    before = np.concatenate([[-1], stops[:-1]])
    for previous, stop in zip(before.tolist(), stops.tolist(), strict=True):
        if frame + 3 * (stop + 1) <= size:
            continue  # it ends in the first turn
        lowest = max(previous + 1, stop + 1 - size // 3, 0)
        inside = starts[np.searchsorted(starts, lowest) : np.searchsorted(starts, stop)].tolist()
        if inside:
            yield inside[0], stop + 1, inside, False, False


def _orf(strand: Literal["+", "-"], begins: list[int], end: int, size: int, open_begin: bool, open_end: bool) -> Orf:
    """From places on the strand as it is read to places in the record."""
    if strand == "-":
        begins, end = [size - begin for begin in begins], size - end
    low = begins[0] if strand == "+" else end
    turn = -size * (low // size) if size else 0
    begins, end = [begin + turn for begin in begins], end + turn
    start, stop = (begins[0], end) if strand == "+" else (end, begins[0])
    return Orf(start, stop, strand, tuple(begins), open_begin, open_end)


def _kinds(letters: bytes, code: GeneticCode) -> np.ndarray:
    """(L - 2,) uint8, the kind of the codon that begins at each base."""
    digits = np.full(256, 4, np.uint8)  # A, C, G, T are 0-3
    for i, letter in enumerate(b"ACGT"):
        digits[letter] = digits[letter | 32] = i
    digits[ord("U")] = digits[ord("u")] = 3
    table = np.zeros(125, np.uint8)
    for codons, kind in ((code.starts, START), (code.stops, STOP)):
        for codon in codons:
            a, b, c = ("ACGT".index(letter) for letter in codon)
            table[25 * a + 5 * b + c] = kind
    d = digits[np.frombuffer(letters, np.uint8)]
    if len(d) < 3:
        return np.zeros(0, np.uint8)
    return table[25 * d[:-2] + 5 * d[1:-1] + d[2:]]
