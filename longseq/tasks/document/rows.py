"""What is known of each sentence, a row of fixed width on disk, so that a library of them takes no memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from longseq.tokens.scratch import Scratch

ROW = np.dtype(
    [
        ("start", np.int64),  # code points of the whole text
        ("length", np.int32),
        ("words", np.int32),
        ("section", np.int32),  # number in the list of section paths
        ("paragraph", np.int32),
        ("document", np.int32),  # number of the document, where many are read together
        ("cues", np.uint16),  # longseq.tasks.document.cues.Cue
        ("tier", np.uint8),
        ("asked", np.uint8),  # WRAPPED, WANTED, UNWANTED
        ("title", np.float32),  # share of its document's title that it repeats
    ]
)
WRAPPED, WANTED, UNWANTED = 1, 2, 4
"""It is a piece of something longer; it must be in; it must not."""
HELD = 1 << 11
"""Rows that wait in memory, and are read at once."""


class Rows:
    """Rows are appended, and read by column or by number. Use as a context manager: it is a temporary file."""

    def __init__(self, folder: str | Path | None = None):
        self._file = Scratch(folder)
        self._held: list[tuple] = []

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._file) // ROW.itemsize + len(self._held)

    def add(self, row: tuple) -> None:
        """Append a row, its fields in the order of `ROW`."""
        self._held.append(row)
        if len(self._held) >= HELD:
            self._flush()

    def column(self, name: str, keep: np.ndarray | None = None) -> np.ndarray:
        """One field of all rows, or of those in `keep` ((rows,) bool)."""
        out = np.empty(len(self) if keep is None else int(keep.sum()), ROW[name])
        at = 0
        for first, block in self._blocks():
            values = block[name] if keep is None else block[name][keep[first : first + len(block)]]
            out[at : at + len(values)] = values
            at += len(values)
        return out

    def row(self, number: int) -> np.void:
        """One row, with its fields by name."""
        self._flush()
        data = self._file.read(number * ROW.itemsize, (number + 1) * ROW.itemsize)
        row: np.void = np.frombuffer(data, ROW)[0]
        return row

    def _blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        self._flush()
        for first in range(0, len(self), HELD):
            last = min(first + HELD, len(self))
            yield first, np.frombuffer(self._file.read(first * ROW.itemsize, last * ROW.itemsize), ROW)

    def _flush(self) -> None:
        if self._held:
            self._file.append(np.array(self._held, ROW).tobytes())
            self._held = []
