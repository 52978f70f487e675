"""How the genes of one genome are written: codon statistics, learned from its surest genes.

The likelihood of a base after the five before it, at each position in the codon: an inhomogeneous Markov chain as in
GeneMark (Borodovsky and McIninch 1993), interpolated from order 0 on; over that of a plain chain of third order of the
whole genome, both strands. A chain of higher order would know the genes themselves, of which a genome mostly consists.
"""

from __future__ import annotations

import numpy as np

ORDER, PLAIN = 5, 3
"""Bases of context, in genes and anywhere."""
WORDS = 4 ** (ORDER + 1)
PRIOR = 12.0
"""Weight, in counts, of the next lower order."""
UNKNOWN = 4
"""Code of a letter that is none of A, C, G, T, which are 0-3."""
_CODE = np.full(256, UNKNOWN, np.uint8)
for _i, _letter in enumerate(b"ACGT"):
    _CODE[_letter] = _CODE[_letter | 32] = _i
_CODE[ord("U")] = _CODE[ord("u")] = 3


def codes(letters: bytes) -> np.ndarray:
    """(L,) uint8: A, C, G, T as 0-3 in any case, U as T, everything else as 4."""
    return _CODE[np.frombuffer(letters, np.uint8)]


def words(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(L,) codes → the six codes up to each base as a number, (L,), and whether all six are known, (L,)."""
    padded = np.concatenate([np.full(ORDER, UNKNOWN, np.uint8), found])
    word, known = np.zeros(len(found), np.int64), np.ones(len(found), bool)
    for j in range(ORDER + 1):
        part = padded[j : j + len(found)]
        word = word * 4 + (part & 3)
        known &= part < UNKNOWN
    return word, known


def turned(found: np.ndarray) -> np.ndarray:
    """Codes of the reverse complement."""
    return np.where(found < UNKNOWN, 3 - found, found)[::-1].astype(np.uint8)


class Coding:
    """Counts of a genome and its genes, then scores."""

    def __init__(self) -> None:
        self._genes, self._all = np.zeros((3, WORDS)), np.zeros(WORDS)
        self.bases = 0
        """Of genes that were learned from."""

    def learn(self, found: np.ndarray) -> None:
        """(L,) codes of a record: what is usual anywhere, on both strands."""
        for strand in (found, turned(found)):
            word, known = words(strand)
            self._all += np.bincount(word[known], minlength=WORDS)

    def learn_gene(self, found: np.ndarray) -> None:
        """(L,) codes of a gene in reading direction, from the first base of a codon on."""
        word, known = words(found)
        for position in range(3):
            some = word[position::3][known[position::3]]
            self._genes[position] += np.bincount(some, minlength=WORDS)
        self.bases += len(found)

    def table(self) -> np.ndarray:
        """(3, 4096) nats by which each word speaks for a gene, by the position in the codon of its last base."""
        usual = np.log(_chances(self._all, PLAIN))
        return np.stack([np.log(_chances(counts)) - usual for counts in self._genes])


def of_codon(table: np.ndarray, found: np.ndarray, start: int, end: int) -> np.ndarray:
    """(T, 6) nats of the bases `[start, end)` of a record, classes as in `frames.CLASSES`; 0 where nothing is known."""
    low, high = max(start - ORDER, 0), min(end + ORDER, len(found))
    around = found[low:high]
    scores = np.zeros((high - low, 6), np.float32)
    for first, strand in ((0, around), (3, turned(around))):
        word, known = words(strand)
        part = np.where(known[:, None], table[:, word].T, 0.0)
        scores[:, first : first + 3] = part if first == 0 else part[::-1]
    return scores[start - low : end - low]


def _chances(counts: np.ndarray, longest: int = ORDER) -> np.ndarray:
    """(4096,) the chance of the last base of each word after the `longest` before it."""
    chances = np.full((1, 4), 0.25)
    for order in range(longest + 1):
        size = 4 ** (order + 1)
        some = counts.reshape(-1, size).sum(0).reshape(-1, 4)
        lower = np.tile(chances, (len(some) // len(chances), 1))
        chances = (some + PRIOR * lower) / (some.sum(1, keepdims=True) + PRIOR)
    return np.tile(chances.reshape(-1), WORDS // chances.size)
