"""What the rows of a file of DNA add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class LengthStatistics:
    """The columns of lengths that seqkit and QUAST users know; all but numbers and sums are None for no record."""

    num_seqs: int
    sum_len: int
    min_len: int | None = None
    avg_len: float | None = None
    max_len: int | None = None
    q1: float | None = None
    """Median of the lower half of the lengths, the median in both halves where their number is odd."""
    q2: float | None = None
    q3: float | None = None
    n50: int | None = None
    """Length of the shortest record among the longest ones that together hold half of all bases."""
    l50: int | None = None
    """How many records that takes (seqkit: N50_num)."""
    n90: int | None = None
    l90: int | None = None
    au_n: float | None = None
    """Area under the Nx curve: sum of squared lengths / sum of lengths."""
    num_seqs_500: int = 0
    """Records of 500 letters or more (QUAST: contigs >= 500 bp)."""
    num_seqs_1000: int = 0
    sum_len_500: int = 0
    """Letters in them."""
    sum_len_1000: int = 0


@dataclass(frozen=True, kw_only=True)
class Totals(LengthStatistics):
    """What the rows of a file add up to; computed from them in input order, so that merged shards give the same.

    Of a sample of the records, the columns of lengths, `empty` and `short` are exact, of all records; counts are those
    of the sample, and shares (GC, soft mask, qualities, bits) are estimates of the file's.
    """

    gc: float | None
    """G + C in percent of A, C, G, T."""
    gc_of_length: float | None
    """G + C in percent of all letters."""
    letters: Mapping[str, int]
    sum_n: int
    n_per_100kbp: float | None
    iupac: int
    gaps: int
    longest_gap: int
    softmask: float | None
    """Lower case in percent of all letters of records in which case is a mask."""
    empty: int
    """Records without a letter."""
    truncated: int
    short: int = 0
    """Records left out as shorter than was asked for; no other figure counts them."""
    short_len: int = 0
    """Letters in them."""
    sampled: int | None = None
    """Records whose letters were read, where that is a sample; None: all."""
    sampled_len: int | None = None
    """Letters in them."""
    duplicate_ids: int
    """Records whose id stood before in the file."""
    duplicate_sequences: int
    """Records whose sequence stood before in the file, empty ones not counted."""
    duplicate_rows: tuple[int, ...] = ()
    """Positions of the first few such records, by id or by sequence."""
    q20: float | None = None
    q30: float | None = None
    average_quality: float | None = None
    bits_per_base: float | None = None
    """Mean over records with a model's bits, weighted by length."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
