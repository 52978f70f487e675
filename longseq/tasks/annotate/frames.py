"""What speaks for each reading frame at each base, from a model's classes of the position in the codon; sums of it.

A reading frame is a strand and an anchor: the first base of a codon on `+`, the base behind the last one on `-`, where
reading begins. Of two anchors that differ by a multiple of three the frame is the same: columns 0-2 are frames of `+`,
3-5 of `-`, by the anchor modulo 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from longseq.errors import CheckpointError
from longseq.streaming.rows import RowSpool

CLASSES = ("CDS1+", "CDS2+", "CDS3+", "CDS1-", "CDS2-", "CDS3-")
"""Of the first, second and third base of a codon on either strand."""
LARGEST = 8.0
"""Log odds of a class are kept up to here: what is nearer to 0 or 1 is rounding."""
BLOCK = 1 << 16
"""Bases of a spool looked at together."""


def columns(labels: Sequence[str], where: str) -> np.ndarray:
    """(6,) the columns of `CLASSES` among a model's labels.

    Raises:
        CheckpointError: it has others.
    """
    missing = [name for name in CLASSES if name not in labels]
    if missing:
        raise CheckpointError(
            where=where,
            expected="a model of the position in the codon (" + ", ".join(CLASSES) + ")",
            found=", ".join(labels),
            remedy="--model genes, or train with labels.codons and labels.strands",
        )
    return np.array([labels.index(name) for name in CLASSES])


def log_odds(probabilities: np.ndarray) -> np.ndarray:
    """(T, C) → (T, C) float32, log p / (1 - p) within `LARGEST` of 0."""
    p = np.clip(probabilities.astype(np.float64), 1e-9, 1 - 1e-9)
    return np.clip(np.log(p / (1 - p)), -LARGEST, LARGEST).astype(np.float32)


def by_frame(of_codon: np.ndarray, start: int) -> np.ndarray:
    """(T, 6) of the classes, from base `start` on → (T, 6) of the frames."""
    place = (start + np.arange(len(of_codon)))[:, None]
    anchor = np.arange(3)
    forwards = (place - anchor) % 3
    backwards = 3 + (anchor - 1 - place) % 3
    return np.take_along_axis(of_codon, np.concatenate([forwards, backwards], 1), 1)


class Sums:
    """Running sums over bases of six numbers each, on disk: 48 bytes a base."""

    def __init__(self, folder: str | Path | None = None):
        self._spool = RowSpool(6, np.float64, folder)
        self._spool.write(0, np.zeros((1, 6)))
        self._total = np.zeros((1, 6))
        self.length = 0

    def __enter__(self) -> Sums:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def add(self, rows: np.ndarray) -> None:
        """(T, 6) of the next T bases."""
        found = self._total + np.cumsum(rows, 0, dtype=np.float64)
        self._spool.write(self.length + 1, found)
        self.length += len(rows)
        self._total = found[-1:] if len(found) else self._total

    def between(self, starts: np.ndarray, ends: np.ndarray, column: np.ndarray) -> np.ndarray:
        """(N,) sums over `[start, end)` of a column each."""
        return self._at(ends, column) - self._at(starts, column)

    def _at(self, places: np.ndarray, column: np.ndarray) -> np.ndarray:
        found = np.zeros(len(places))
        order = np.argsort(places, kind="stable")
        edges = np.searchsorted(places[order], np.arange(0, self.length + 1 + BLOCK, BLOCK))
        for block, (first, last) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
            if first < last:
                some = order[first:last]
                rows = self._spool.read(block * BLOCK, min((block + 1) * BLOCK, self.length + 1))
                found[some] = rows[places[some] - block * BLOCK, column[some]]
        return found
