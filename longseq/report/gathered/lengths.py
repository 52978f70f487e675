"""Lengths and GC of all records, in twenty bytes each."""

from __future__ import annotations

from array import array

import numpy as np

from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary


class Lengths:
    """Takes records as they come."""

    def __init__(self) -> None:
        self._lengths, self._gc, self._sources = array("q"), array("d"), array("i")

    def dna(self, summary: RecordSummary) -> None:
        gc = summary.row.gc
        self._lengths.append(summary.row.length)
        self._gc.append(float("nan") if gc is None else gc)
        self._sources.append(summary.source)

    def document(self, summary: DocumentSummary) -> None:
        """Documents are not counted."""

    @property
    def lengths(self) -> np.ndarray:
        """(R,) int64."""
        return np.array(self._lengths, np.int64)

    @property
    def gc(self) -> np.ndarray:
        """(R,) float64 percent of A, C, G, T; NaN without one."""
        return np.array(self._gc, np.float64)

    @property
    def sources(self) -> np.ndarray:
        """(R,) int32, the place of each record's input among those of the run."""
        return np.array(self._sources, np.int32)
