"""What is asked of `score` with a reference."""

from __future__ import annotations

from dataclasses import dataclass

from longseq.config import require
from longseq.formats.letters import OnUnknown

CONTEXT = 500
"""Bases on either side of an allele: with a single change a window of 1,001, which fills four calls of 256."""
LONGEST = 1000
"""Bases of the longest allele that gets a number."""


@dataclass(frozen=True, kw_only=True)
class VariantRequest:
    """A table of variants and what it speaks of."""

    variants: str
    """VCF or BCF; `-` is standard input."""
    reference: str
    """Any file of sequences."""
    alias: tuple[tuple[str, str], ...] = ()
    """Pairs of names of one record."""
    context: int = CONTEXT
    """Bases on either side of an allele."""
    longest: int = LONGEST
    """Bases of the longest allele, REF or alternative, that is scored."""
    on_unknown: OnUnknown = "error"
    """A letter of the reference that is no DNA letter raises, or is read as N."""

    def __post_init__(self):
        require(self.context >= 1, "context", self.context, ">= 1 base")
        require(self.longest >= 1, "longest-allele", self.longest, ">= 1 base")
        require(self.variants != "-" or self.reference != "-", "reference", "-", "a file, where the variants are `-`")
