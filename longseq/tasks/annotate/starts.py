"""Where genes of one genome begin: their start codons and what stands before them, learned from its surest genes.

Of each position before a start, the likelihood of its base after the two before it, over the same before starts that
were not taken in the same reading frames: a weight array (Zhang and Marr 1993) of second order, in which ribosome
binding sites at any usual distance show, whatever they are.
"""

from __future__ import annotations

import numpy as np

from longseq.tasks.annotate.coding import UNKNOWN

BEFORE = 28
"""Bases before a start that are looked at."""
CODONS = 64
PRIOR = 8.0
"""Weight, in counts, of the next lower order."""
USUAL = {"ATG": 0.80, "GTG": 0.12, "TTG": 0.08}
"""Shares of start codons before anything is known; other codons are as rare as the last."""
TAKEN, PASSED = 1, 0


class Starts:
    """Counts of starts that were taken and of those passed over, then scores."""

    def __init__(self) -> None:
        self._codons = np.zeros((2, CODONS))
        self._before = np.zeros((2, BEFORE, CODONS))
        self.taken = 0

    def learn(self, windows: np.ndarray, which: int) -> None:
        """(N, BEFORE + 3) codes before a start and of it, in reading direction; `which`: `TAKEN` or `PASSED`."""
        if not len(windows):
            return
        codon, known = _codon(windows[:, BEFORE:])
        self._codons[which] += np.bincount(codon[known], minlength=CODONS)
        for at in range(2, BEFORE):
            word, known = _codon(windows[:, at - 2 : at + 1])
            self._before[which, at] += np.bincount(word[known], minlength=CODONS)
        if which == TAKEN:
            self.taken += len(windows)

    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Nats of start codons (64,), and of words at each place before them (BEFORE, 64)."""
        shares = [(row + PRIOR * usual_codons()) / (row.sum() + PRIOR) for row in self._codons]
        before = np.zeros((BEFORE, CODONS))
        for at in range(2, BEFORE):
            before[at] = np.log(_chances(self._before[TAKEN, at])) - np.log(_chances(self._before[PASSED, at]))
        return np.log(shares[TAKEN]) - np.log(shares[PASSED]), before


def usual_codons() -> np.ndarray:
    """(64,) shares of start codons before anything is known."""
    shares = np.full(CODONS, min(USUAL.values()))
    for codon, share in USUAL.items():
        a, b, c = ("ACGT".index(letter) for letter in codon)
        shares[16 * a + 4 * b + c] = share
    return shares


def score(tables: tuple[np.ndarray, np.ndarray], windows: np.ndarray) -> np.ndarray:
    """(N, BEFORE + 3) codes → (N,) nats; what is not known says nothing."""
    codons, before = tables
    codon, known = _codon(windows[:, BEFORE:])
    found = np.where(known, codons[codon], 0.0)
    for at in range(2, BEFORE):
        word, known = _codon(windows[:, at - 2 : at + 1])
        found += np.where(known, before[at][word], 0.0)
    return found


def _codon(three: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    digits = three.astype(np.int64) & 3
    return 16 * digits[:, 0] + 4 * digits[:, 1] + digits[:, 2], np.asarray((three < UNKNOWN).all(1))


def _chances(counts: np.ndarray) -> np.ndarray:
    """(64,) the chance of the last base of each word after the two before it."""
    chances = np.full((1, 4), 0.25)
    for size in (4, 16, 64):
        some = counts.reshape(-1, size).sum(0).reshape(-1, 4)
        lower = np.tile(chances, (len(some) // len(chances), 1))
        chances = (some + PRIOR * lower) / (some.sum(1, keepdims=True) + PRIOR)
    return chances.reshape(-1)
