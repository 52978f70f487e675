"""The longest records of a run, with figures of their windows in bins."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from longseq.report.gathered.bins import Bins, binned, skew_walk
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

FEWEST = 3
"""Windows from which there is something to be seen along a record."""


@dataclass(frozen=True, kw_only=True)
class LongRecord:
    """One of them."""

    summary: RecordSummary
    """Without its windows, vectors, bits of bases and letters."""
    tracks: dict[str, Bins]
    """By the column of windows: those that were asked for and have a value."""
    skew: tuple[np.ndarray, np.ndarray]
    """Ends of steps (bases of the record) and the running sum of G - C there, its mean taken out; see `Walk`."""
    windows: int
    """How many there are."""


class Longest:
    """Keeps the longest `number` records of at least `FEWEST` windows, binned; of two equals the first."""

    def __init__(self, number: int, columns: tuple[str, ...], most: int):
        """`most` bins a column at most."""
        self._number, self._columns, self._most = number, columns, most
        self._kept: list[tuple[int, int, LongRecord]] = []
        self.seen = 0
        """Records that could be shown so far."""

    def dna(self, summary: RecordSummary) -> None:
        windows, row = summary.windows, summary.row
        if windows is None or len(windows) < FEWEST or row.expected_errors is not None:
            return
        self.seen += 1
        if len(self._kept) == self._number and row.length <= self._kept[0][0]:
            return
        values = {name: getattr(windows, name) for name in self._columns}
        tracks = {
            name: binned(windows.start, windows.end, column, self._most)
            for name, column in values.items()
            if np.isfinite(column).any()
        }
        walk = skew_walk(np.stack([windows.a, windows.c, windows.g, windows.t], 1), self._most)
        ends = windows.end[np.append(walk.first[1:], len(windows)) - 1]
        plain = replace(summary, windows=None, vectors=None, base_bits=None, letters=None)
        found = LongRecord(summary=plain, tracks=tracks, skew=(ends, walk.sums), windows=len(windows))
        entry = (row.length, -self.seen, found)
        if len(self._kept) < self._number:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heapreplace(self._kept, entry)

    def document(self, summary: DocumentSummary) -> None:
        """Documents are of another kind."""

    def records(self) -> list[LongRecord]:
        """Longest first."""
        return [found for _, _, found in sorted(self._kept, key=lambda entry: entry[:2], reverse=True)]
