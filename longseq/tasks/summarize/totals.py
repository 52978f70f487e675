"""What the rows of a file add up to, in a few numbers a record."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from dataclasses import asdict

import numpy as np

from longseq.records import IUPAC
from longseq.results.dna import SequenceRow, called, percent, phred, strong
from longseq.results.totals import Totals
from longseq.tasks.summarize.lengths import length_statistics
from longseq.tasks.summarize.sieve import Sieve

NAMED = 10
"""Duplicate rows that are pointed at."""


class TotalsCounter:
    """Takes rows in input order. Ids and sequences are compared by 64 bits of a hash: 32 bytes a record."""

    def __init__(self):
        self._lengths, self._ids, self._digests = array("q"), array("Q"), array("Q")
        self._places = array("q")
        self._letters: Counter[str] = Counter()
        self._gaps = self._longest_gap = self._empty = self._truncated = 0
        self._lower = self._masked_length = 0
        self._q20 = self._q30 = self._quality_length = 0
        self._errors = self._bits = 0.0
        self._read_bases = 0

    def add(self, row: SequenceRow) -> None:
        self._lengths.append(row.length)
        self._ids.append(_hash(row.id))
        self._places.append(row.index)
        self._digests.append(_hash(row.digest))
        for letter, number in row.letters.items():
            self._letters[letter] += number
        self._gaps += row.gaps
        self._longest_gap = max(self._longest_gap, row.longest_gap)
        self._empty += row.length == 0
        self._truncated += row.truncated
        if row.lower is not None:
            self._lower, self._masked_length = self._lower + row.lower, self._masked_length + row.length
        if row.expected_errors is not None:
            self._q20, self._q30 = self._q20 + (row.q20_bases or 0), self._q30 + (row.q30_bases or 0)
            self._errors += row.expected_errors
            self._quality_length += row.length
        if row.bits_per_base is not None:
            self._bits += row.bits_per_base * row.bases
            self._read_bases += row.bases

    def finish(self, sieve: Sieve | None = None) -> Totals:
        """The totals; `sieve` is what let the records through, and knows of the others."""
        lengths = np.array(self._lengths, np.int64)
        read_len = int(lengths.sum(dtype=np.int64))
        unread = np.array(sieve.unread if sieve is not None else (), np.int64)
        statistics = length_statistics(np.concatenate([lengths, unread]))
        letters = {chr(code): self._letters[chr(code)] for code in IUPAC if self._letters[chr(code)]}
        n = letters.get("N", 0)
        places = np.array(self._places, np.int64)
        once = np.zeros(len(places), bool)
        once[np.unique(places, return_index=True)[1]] = True  # several regions of one record do not repeat it
        ids = _repeated(np.array(self._ids, np.uint64), once)
        sequences = _repeated(np.array(self._digests, np.uint64), once & (lengths > 0))
        quality = self._quality_length
        return Totals(
            **asdict(statistics),
            gc=percent(strong(letters), called(letters)),
            gc_of_length=percent(strong(letters), read_len),
            letters=letters,
            sum_n=n,
            n_per_100kbp=100_000 * n / read_len if read_len else None,
            iupac=read_len - called(letters) - n,
            gaps=self._gaps,
            longest_gap=self._longest_gap,
            softmask=percent(self._lower, self._masked_length),
            empty=self._empty + int(np.count_nonzero(unread == 0)),
            truncated=self._truncated,
            short=0 if sieve is None else sieve.short,
            short_len=0 if sieve is None else sieve.short_len,
            sampled=len(lengths) if sieve is not None and sieve.fraction < 1 else None,
            sampled_len=read_len if sieve is not None and sieve.fraction < 1 else None,
            duplicate_ids=len(ids),
            duplicate_sequences=len(sequences),
            duplicate_rows=tuple(places[np.union1d(ids, sequences)[:NAMED]].tolist()),
            q20=percent(self._q20, quality),
            q30=percent(self._q30, quality),
            average_quality=phred(self._errors, quality),
            bits_per_base=self._bits / self._read_bases if self._read_bases else None,
        )


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _repeated(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Positions of values that stood before, ascending."""
    positions = np.flatnonzero(counted)
    order = np.argsort(values[positions], kind="stable")
    ordered = values[positions][order]
    return np.sort(positions[order[1:][ordered[1:] == ordered[:-1]]])
