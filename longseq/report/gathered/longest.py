"""The longest records of a run, with figures of their windows in bins."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from longseq.report.gathered.bins import Bins, binned, skew_walk, together
from longseq.results.dna import RecordSummary, WindowColumns
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
    """Keeps the longest `number` records of at least `FEWEST` windows; of two equals the first.

    A window of which less than half are A, C, G, T has no value, unless all are so: a few letters tell nothing.
    """

    def __init__(self, number: int, columns: tuple[str, ...], most: int, room: int = 0):
        """Of a record with more than `most` windows `most` bins a column; but all its windows, where those of all kept
        records together are at most `room`."""
        self._number, self._columns, self._most, self._room = number, columns, most, room
        self._kept: list[tuple[int, int, LongRecord]] = []
        self._size = 0
        self.seen = 0
        """Records that could be shown so far."""

    def dna(self, summary: RecordSummary) -> None:
        windows, row = summary.windows, summary.row
        if windows is None or len(windows) < FEWEST or row.expected_errors is not None:
            return
        self.seen += 1
        if len(self._kept) == self._number and row.length <= self._kept[0][0]:
            return
        # Longer records have more windows: once there is no room for all of them, there never will be.
        if len(self._kept) == self._number:
            self._size -= self._kept[0][2].windows
        self._size += len(windows)
        plain = replace(summary, windows=None, vectors=None, base_bits=None, letters=None)
        tracks, skew = self._tracks(windows)
        found = LongRecord(summary=plain, tracks=tracks, skew=skew, windows=len(windows))
        entry = (row.length, -self.seen, found)
        if len(self._kept) < self._number:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heapreplace(self._kept, entry)
        if self._size > self._room:
            self._kept = [(length, place, self._fitted(record)) for length, place, record in self._kept]

    def document(self, summary: DocumentSummary) -> None:
        """Documents are of another kind."""

    def records(self) -> list[LongRecord]:
        """Longest first."""
        return [found for _, _, found in sorted(self._kept, key=lambda entry: entry[:2], reverse=True)]

    def _tracks(self, windows: WindowColumns) -> tuple[dict[str, Bins], tuple[np.ndarray, np.ndarray]]:
        most = self._most if self._size > self._room else len(windows)
        acgt = np.stack([windows.a, windows.c, windows.g, windows.t], 1)
        full = 2 * acgt.sum(1) >= windows.end[0] - windows.start[0]
        full |= not full.any()
        columns = {name: np.where(full, getattr(windows, name), np.nan) for name in self._columns}
        place = (windows.start, windows.end)
        tracks = {name: binned(*place, values, most) for name, values in columns.items() if np.isfinite(values).any()}
        walk = skew_walk(acgt, most)
        return tracks, (windows.end[np.append(walk.first[1:], len(windows)) - 1], walk.sums)

    def _fitted(self, found: LongRecord) -> LongRecord:
        """In bins, where it is not yet: they hold single windows then."""
        ends, sums = found.skew
        if len(ends) <= self._most:
            return found
        tracks = {name: binned(bins.start, bins.end, bins.mean, self._most) for name, bins in found.tracks.items()}
        last = np.append(np.arange(step := together(len(ends), self._most), len(ends), step), len(ends)) - 1
        return replace(found, tracks=tracks, skew=(ends[last], sums[last]))
