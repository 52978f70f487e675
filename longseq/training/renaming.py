"""Bases under another name: tables that turn ids into those of renamed bases, the complement among them."""

from __future__ import annotations

from itertools import permutations

import numpy as np

SETS = {
    "A": "A", "C": "C", "G": "G", "T": "T",
    "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip
"""Bases each code stands for (NC-IUB 1984, table 1)."""

COMPLEMENT = (3, 2, 1, 0)
"""What A, C, G and T (0-3) become on the other strand."""
ANY = tuple(permutations(range(4)))
"""All 24 renamings; the first changes nothing."""
PAIRED = tuple(p for p in ANY if all(p[COMPLEMENT[b]] == COMPLEMENT[p[b]] for b in range(4)))
"""The 8 renamings under which complements stay complements."""


def table(letters: bytes, renaming: tuple[int, ...]) -> np.ndarray:
    """ids → ids of the renamed bases, uint8; `letters` are those of each id; base b becomes `renaming[b]`.

    A code that stands for several bases becomes the code of their new names.
    """
    codes = letters.decode()
    number = {frozenset(SETS[code]): i for i, code in enumerate(codes)}
    renamed = [frozenset("ACGT"[renaming["ACGT".index(base)]] for base in SETS[code]) for code in codes]
    return np.array([number[bases] for bases in renamed], np.uint8)
