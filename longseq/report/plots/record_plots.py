"""`plots/` of a run over DNA: what is drawn is gathered as records pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from longseq.report.gathered.lengths import Lengths
from longseq.report.gathered.longest import Longest
from longseq.report.gathered.vector_map import VectorMap
from longseq.report.plots.canvas import save
from longseq.report.plots.dna import TRACKS, gc_picture, lengths_picture, map_picture, record_picture
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

SHOWN = 12
"""Records that have a picture of their own: the longest."""
BINS = 1000
"""Bins along one of them at most."""
WINDOWS = 3000
"""Dots of the map at most."""


class RecordPlots:
    """Takes summaries as they come, of windows of `window` bases, and of inputs called `samples`."""

    def __init__(self, samples: Sequence[str], window: int):
        self._samples, self._window = samples, window
        self._lengths, self._map = Lengths(), VectorMap(WINDOWS)
        self._longest = Longest(SHOWN, tuple(TRACKS), BINS)
        self._sinks = (self._lengths, self._longest, self._map)

    def dna(self, summary: RecordSummary) -> None:
        for sink in self._sinks:
            sink.dna(summary)

    def document(self, summary: DocumentSummary) -> None:
        """Documents are not drawn here."""

    def save(self, folder: Path, kinds: Sequence[str]) -> list[str]:
        """Write what there is something to be seen of, `png`, `svg` or both; the names of the pictures.

        `lengths` and `gc` of two records or more, `record_01` and so on of the longest ones with windows, `map` of the
        vectors of windows.
        """
        found = self._lengths
        pictures = {}
        if np.count_nonzero(found.lengths) > 1:
            pictures["lengths"] = partial(lengths_picture, found, self._samples)
            if np.count_nonzero(np.isfinite(found.gc)) > 1:
                pictures["gc"] = partial(gc_picture, found, self._samples)
        records = self._longest.records()
        for number, record in enumerate(records, 1):
            row = record.summary.row
            sample = f"{self._samples[record.summary.source]}: " if len(self._samples) > 1 else ""
            rank = f"number {number} by length of {self._longest.seen:,}" if self._longest.seen > 1 else ""
            pictures[f"record_{number:02}"] = partial(
                record_picture, record, f"{sample}{row.id or 'without a name'}", rank, self._window
            )
        if (points := self._map.points()) is not None:
            pictures["map"] = partial(map_picture, points, self._samples)
        for name, draw in pictures.items():
            save(folder, name, kinds, draw)
        return list(pictures)
