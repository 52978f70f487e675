"""Hashes of runs of neighbouring ids: k-mers of DNA on either strand, and runs of words.

A run of k ids is put together from runs of 1, 2, 4 … ids, in about log2(k) passes over an array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

BASES = 4
"""Ids below are A, C, G and T, of which 3 - id is the complement."""
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_ODD = 0x9E3779B97F4A7C15


class Kmers(NamedTuple):
    """k-mers of bases, k <= 31: of one and its reverse complement the smaller number counts."""

    length: int = 21

    def __str__(self) -> str:
        return f"{self.length}-mers"

    def hashes(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N - k + 1,) uint64, even over its range, of each k-mer of N ids; and (bool) whether all of it is A, C, G, T.

        N is at least k.
        """
        bad = ids >= BASES
        bases = (ids & 3).astype(np.uint64)
        forward = _runs(bases, self.length, lambda a, _, b, n: (a << np.uint64(2 * n)) | b)
        reverse = _runs(bases ^ np.uint64(3), self.length, lambda a, n, b, _: a | (b << np.uint64(2 * n)))
        if bad.any():
            before = np.concatenate([[0], np.cumsum(bad)])
            whole = before[self.length :] == before[: -self.length]
        else:
            whole = np.ones(len(forward), bool)
        return _mixed(np.minimum(forward, reverse)), whole


class Runs(NamedTuple):
    """Runs of words, in their order."""

    length: int = 8

    def __str__(self) -> str:
        return f"runs of {self.length} tokens"

    def hashes(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As those of `Kmers`; every run counts."""
        powers = {n: np.uint64(pow(_ODD, n, 1 << 64)) for n in range(1, self.length + 1)}
        joined = _runs(ids.astype(np.uint64) + np.uint64(1), self.length, lambda a, _, b, n: a * powers[n] + b)
        return _mixed(joined), np.ones(len(joined), bool)


Shingles = Kmers | Runs


def _runs(ones: np.ndarray, length: int, join: Callable[[np.ndarray, int, np.ndarray, int], np.ndarray]) -> np.ndarray:
    """(N - length + 1,) every run of `length`; `join(a, m, b, n)` joins runs of m with the runs of n behind them."""
    result, done = ones, 0
    doubled, n = ones, 1
    while True:
        if length & n:
            last = len(ones) - done - n + 1
            result = join(result[:last], done, doubled[done : done + last], n) if done else doubled
            done += n
        if done == length:
            return result
        last = len(doubled) - n
        doubled = join(doubled[:last], n, doubled[n : n + last], n)
        n *= 2


def _mixed(values: np.ndarray) -> np.ndarray:
    """Spread over all of uint64, one to one (the finaliser of SplitMix64: Steele, Lea & Flood 2014, figure 16)."""
    for shift, factor in zip((30, 27), _MIX, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * factor
    return values ^ (values >> np.uint64(31))
