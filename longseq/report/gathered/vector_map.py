"""Vectors of windows as points of a plane: their first two principal components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary
from longseq.results.findings import VectorBlock


class MapPoints(NamedTuple):
    """What is shown."""

    places: np.ndarray
    """(P, 2) float64, along the first and the second component."""
    shares: tuple[float, float]
    """Percent of the variance of all windows that lies along each."""
    gc: np.ndarray
    """(P,) float32 percent of A, C, G, T of the window, of which it has some: without any it has no vector."""
    sources: np.ndarray
    """(P,) int32, the place of its input among those of the run."""
    records: np.ndarray
    """(P,) int64, the number of its record among those that have vectors."""
    start: np.ndarray
    """(P,) int64, first base of the window in its record."""
    end: np.ndarray
    """(P,) int64, the base behind its last."""
    names: list[str]
    """Its record."""
    classes: list[str]
    """Of its record; empty without."""
    all: int
    """How many windows there are; of more than there is room for every so-manieth is shown."""


class VectorMap:
    """Takes the vectors of all windows into their covariance, and keeps an even choice of at most `most`."""

    def __init__(self, most: int):
        self._most, self._every, self._seen, self._records = most, 1, 0, 0
        self._sum: np.ndarray = np.zeros(0)
        self._products: np.ndarray = np.zeros((0, 0))
        self._kept: list[tuple[np.ndarray, float, int, int, int, int, str, str]] = []

    def dna(self, summary: RecordSummary) -> None:
        if summary.vectors is None or summary.windows is None:
            return
        at = 0
        for block in summary.vectors.blocks():
            gc = summary.windows.gc[at : at + len(block.start)]
            at += len(block.start)
            self._add(block, gc, summary)
        self._records += 1

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no windows."""

    def _add(self, block: VectorBlock, gc: np.ndarray, summary: RecordSummary) -> None:
        vectors = block.vectors
        known = np.flatnonzero(np.isfinite(vectors[:, 0]))
        exact = vectors[known].astype(np.float64)
        if not self._sum.size:
            self._sum = np.zeros(vectors.shape[1])
            self._products = np.zeros((vectors.shape[1], vectors.shape[1]))
        self._sum += exact.sum(0)
        self._products += np.einsum("ni,nj->ij", exact, exact)
        classes = summary.row.findings.classes
        label = "" if classes is None else classes.label
        for i in known[(-self._seen) % self._every :: self._every]:
            place = (float(gc[i]), summary.source, self._records, int(block.start[i]), int(block.end[i]))
            self._kept.append((vectors[i].copy(), *place, summary.row.id, label))
        self._seen += len(known)
        while len(self._kept) > self._most:
            self._kept, self._every = self._kept[::2], 2 * self._every

    def points(self) -> MapPoints | None:
        """None where there are fewer than three windows, or all are alike."""
        if self._seen < 3:
            return None
        mean = self._sum / self._seen
        covariance = self._products / self._seen - np.outer(mean, mean)
        variances, directions = np.linalg.eigh(covariance)
        total = float(np.trace(covariance))
        if total <= 1e-12 * float(np.trace(self._products)) / self._seen:
            return None
        axes = directions[:, [-1, -2]]
        axes = axes * np.sign(axes[np.abs(axes).argmax(0), [0, 1]])  # a direction has no sign of its own
        vectors = np.array([entry[0] for entry in self._kept], np.float64)
        gc, sources, records, start, end = (np.array([entry[i] for entry in self._kept]) for i in range(1, 6))
        first, second = (100 * max(float(v), 0.0) / total for v in variances[[-1, -2]])
        return MapPoints(
            (vectors - mean) @ axes,
            (first, second),
            gc.astype(np.float32),
            sources.astype(np.int32),
            records.astype(np.int64),
            start.astype(np.int64),
            end.astype(np.int64),
            [entry[6] for entry in self._kept],
            [entry[7] for entry in self._kept],
            self._seen,
        )
