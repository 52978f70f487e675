"""Genes of prokaryotes by pyrodigal (Larralde 2022), where a user has installed it: it is under the GPL, and no part of
this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from longseq.errors import UsageError
from longseq.results.findings import GeneFacts

ENOUGH = 100_000
"""Bases from which the finder learns from the record itself, on one genetic code."""
LONGEST = 32_000_000
"""Bases of the longest record whose genes are looked for: the finder wants it in memory, and no bacterium has more."""
CODES = (11, 4)
"""Genetic codes that are tried: the usual one, and that of Mycoplasma and its kin, which read UGA as a residue."""
DENSE, DENSER = 70.0, 10.0
"""Percent of bases in genes below which the second code is tried, and by how much it must be better."""


class GeneFinder:
    """Counts genes; one for many records."""

    def __init__(self) -> None:
        """Raises UsageError where pyrodigal is not installed."""
        try:
            import pyrodigal
        except ImportError:
            raise UsageError(
                where="--pyrodigal",
                expected="the package pyrodigal (GPL-3.0)",
                found="none",
                remedy="pip install pyrodigal",
            ) from None
        self._pyrodigal: Any = pyrodigal
        self._meta = pyrodigal.GeneFinder(meta=True)

    def genes(self, letters: bytes) -> GeneFacts | None:
        """Of a record's letters; None where it is empty."""
        if not letters:
            return None
        if len(letters) < ENOUGH or letters.upper().count(b"N") > len(letters) / 2:
            return self._facts(self._meta, letters, None)
        facts = self._trained(letters, CODES[0])
        if facts.coding < DENSE:
            other = self._trained(letters, CODES[1])
            facts = other if other.coding > facts.coding + DENSER else facts
        return facts

    def _trained(self, letters: bytes, code: int) -> GeneFacts:
        finder = self._pyrodigal.GeneFinder()
        finder.train(letters, translation_table=code)
        return self._facts(finder, letters, code)

    def _facts(self, finder: Any, letters: bytes, code: int | None) -> GeneFacts:
        found = finder.find_genes(letters)
        covered = np.zeros(len(letters), bool)
        for gene in found:
            covered[gene.begin - 1 : gene.end] = True
        if code is None:
            code = found[0].translation_table if len(found) else CODES[0]
        return GeneFacts(
            number=len(found),
            coding=100 * float(covered.mean()),
            partial=sum(1 for gene in found if gene.partial_begin or gene.partial_end),
            genetic_code=code,
            trained=finder is not self._meta,
        )
