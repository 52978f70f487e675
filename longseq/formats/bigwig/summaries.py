"""Summaries of a track at one scale, for views that show more bases than a screen has points."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from longseq.formats.bigwig.layout import SUMMARY

FINEST = 64
"""Bases of the narrowest bins."""
STEP = 4
"""Times as wide are those of the next scale."""
ROWS = 1 << 16
"""Read back at once."""


def finest(bases_a_run: float) -> int:
    """Bases of the first scale's bins: eight values a bin or more."""
    width = FINEST
    while width < 8 * bases_a_run:
        width *= STEP
    return width


def of_runs(record: np.ndarray, start: np.ndarray, end: np.ndarray, value: np.ndarray, width: int) -> np.ndarray:
    """Summaries of runs (N,) of one value each, cut where bins of `width` bases meet."""
    pieces = (end - 1) // width - start // width + 1
    run = np.repeat(np.arange(len(record)), pieces)
    bin_ = start[run] // width + np.arange(len(run)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    rows = np.zeros(len(run), SUMMARY)
    rows["record"], rows["least"], rows["greatest"] = record[run], value[run], value[run]
    rows["start"], rows["end"] = np.maximum(start[run], bin_ * width), np.minimum(end[run], (bin_ + 1) * width)
    rows["bases"] = rows["end"] - rows["start"]
    values = value[run].astype(np.float64)
    with np.errstate(over="ignore"):  # a square past float32 is stored as infinite
        rows["sum"], rows["squares"] = values * rows["bases"], values**2 * rows["bases"]
    return rows


class Summaries:
    """A row a bin that has a value, kept on disk; each bin's start and end are those of its first and last value."""

    def __init__(self, width: int, folder: Path):
        self.width, self.rows = width, 0
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close()
        self._held = np.zeros(0, SUMMARY)

    def close(self) -> None:
        self._file.close()

    def add(self, rows: np.ndarray) -> None:
        """Summaries in order, none of which lies in two bins."""
        rows = np.concatenate([self._held, rows])
        bins = rows["start"].astype(np.int64) // self.width  # a width may be past 32 bits
        changes = (bins[1:] != bins[:-1]) | (rows["record"][1:] != rows["record"][:-1])
        first = np.flatnonzero(np.concatenate([[True], changes]))
        joined = rows[first]
        joined["end"] = rows["end"][np.append(first[1:], len(rows)) - 1]
        joined["least"] = np.minimum.reduceat(rows["least"], first)
        joined["greatest"] = np.maximum.reduceat(rows["greatest"], first)
        joined["bases"] = np.add.reduceat(rows["bases"], first)
        with np.errstate(over="ignore"):
            for name in ("sum", "squares"):
                joined[name] = np.add.reduceat(rows[name].astype(np.float64), first)
        self._write(joined[:-1])
        self._held = joined[-1:]  # what comes next may lie in its bin

    def finish(self) -> None:
        self._write(self._held)
        self._held = self._held[:0]

    def wider(self, folder: Path) -> Summaries:
        """The next scale, finished."""
        found = Summaries(STEP * self.width, folder)
        for rows in self.read():
            found.add(rows)
        found.finish()
        return found

    def read(self) -> Iterator[np.ndarray]:
        """All rows, some at a time."""
        self._file.seek(0)
        while data := self._file.read(ROWS * SUMMARY.itemsize):
            yield np.frombuffer(data, SUMMARY)

    def _write(self, rows: np.ndarray) -> None:
        self._file.write(rows.tobytes())
        self.rows += len(rows)
