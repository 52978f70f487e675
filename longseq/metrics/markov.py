"""Markov models of DNA: the yardsticks beside which a model's bits per base are printed.

A record is given as pieces of codes: uint8 arrays in which 0-3 are A, C, G, T and anything above is a letter that is
neither learned nor scored. How a record is cut into pieces changes nothing. A base with fewer than `order` known bases
before it (at the start of a record, after an N) is predicted uniformly, 2 bits, and is not learned from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from longseq.config import require

MAX_ORDER = 12
"""4^13 counts of 4 bytes are 268 MB; the genomes we compare with do not fill them."""


class StaticMarkov:
    """p(b | c) = (n(c, b) + alpha) / (n(c) + 4 alpha), with counts n of both strands of the training records.

    `order` is the number of bases in the context c, 0 to 12; `alpha` is the pseudo-count of each base (Laplace: 1).
    """

    def __init__(self, order: int, alpha: float = 1.0):
        _check(order, alpha)
        self.order, self.alpha = order, alpha
        self._counts = np.zeros(4 ** (order + 1), np.uint32)

    def train(self, pieces: Iterable[np.ndarray]) -> None:
        """Count one record, and its reverse complement."""
        for words, known, _ in _words(pieces, self.order):
            forward = words[known]
            np.add.at(self._counts, forward, np.uint32(1))
            np.add.at(self._counts, _reverse_complement(forward, self.order + 1), np.uint32(1))

    def bits(self, pieces: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """-log2 p of each base of one record, float32, NaN where the letter is not scored; one array a piece."""
        for words, known, scored in _words(pieces, self.order):
            full = words[known]
            context = full & ~np.uint32(3)
            seen = sum(self._counts[context | np.uint32(b)].astype(np.float64) for b in range(4))
            yield _bits(self._counts[full], seen, self.alpha, known, scored)


class AdaptiveMarkov:
    """The same estimate with the counts of the record itself up to each base: it adapts, and starts anew every record.

    With `alpha` 1/2 it is the estimator of Krichevsky and Trofimov (1981, eq. 2.3) in each context.
    """

    def __init__(self, order: int, alpha: float = 0.5):
        _check(order, alpha)
        self.order, self.alpha = order, alpha

    def bits(self, pieces: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """-log2 p of each base of one record given those before it, as `StaticMarkov.bits`."""
        of_word = np.zeros(4 ** (self.order + 1), np.uint32)
        of_context = np.zeros(4**self.order, np.uint32)
        for words, known, scored in _words(pieces, self.order):
            full = words[known]
            context = full >> np.uint32(2)
            before = of_word[full] + _rank(full)
            seen = of_context[context] + _rank(context)
            yield _bits(before, seen, self.alpha, known, scored)
            np.add.at(of_word, full, np.uint32(1))
            np.add.at(of_context, context, np.uint32(1))


def gc_bits(gc: float) -> float:
    """Mean bits per base when only the share of G and C of the very data is known: p(G) = p(C) = gc / 2."""
    require(0 <= gc <= 1, "gc", gc, "a share, 0 to 1")
    return 1.0 - sum(p * math.log2(p) for p in (gc, 1 - gc) if p > 0)


def _check(order: int, alpha: float) -> None:
    require(0 <= order <= MAX_ORDER, "order", order, f"0 to {MAX_ORDER}")
    require(alpha > 0, "alpha", alpha, "above 0")


def _words(pieces: Iterable[np.ndarray], order: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """For each piece: the (order + 1)-mer ending at each base, whether all of it is known, whether the base is."""
    tail = np.full(order, 4, np.uint8)  # nothing is known before the record
    for piece in pieces:
        codes = np.concatenate([tail, piece])
        n = len(piece)
        unknown = np.concatenate([[0], np.cumsum(codes > 3)])
        words: np.ndarray = np.zeros(n, np.uint32)
        for j in range(order + 1):
            words = (words << np.uint32(2)) | (codes[j : j + n] & 3)
        yield words, unknown[order + 1 :] == unknown[: len(codes) - order], piece < 4
        tail = codes[len(codes) - order :]


def _reverse_complement(words: np.ndarray, length: int) -> np.ndarray:
    """Reverse complement of packed words of `length` bases; the complement of code c is 3 - c."""
    turned = np.zeros_like(words)
    for _ in range(length):
        turned = (turned << np.uint32(2)) | (np.uint32(3) - (words & np.uint32(3)))
        words = words >> np.uint32(2)
    return turned


def _rank(values: np.ndarray) -> np.ndarray:
    """How many equal values stand before each one."""
    if values.size and values.max() < 1 << 16:
        values = values.astype(np.uint16)  # radix sort, four times faster
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(values) else order
    sizes = np.diff(np.append(first, len(values)))
    ranks = np.empty(len(values), np.uint32)
    ranks[order] = np.arange(len(values)) - np.repeat(first, sizes)
    return ranks


def _bits(count: np.ndarray, seen: np.ndarray, alpha: float, known: np.ndarray, scored: np.ndarray) -> np.ndarray:
    bits = np.where(scored, np.float32(2), np.float32(np.nan))
    bits[known] = -np.log2((count + alpha) / (seen + 4 * alpha))
    return bits
