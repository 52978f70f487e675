"""A sparse matrix on disk, row after row: 8 bytes an entry there, 2 bytes a row here."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longseq.tokens.scratch import Scratch

_ENTRY = np.dtype([("column", np.int32), ("value", np.float32)])


class Block(NamedTuple):
    """Consecutive rows in compressed form."""

    first: int
    """Row number of the first."""
    starts: np.ndarray
    """(rows,) int64: where each row begins in `columns` and `values`; no row is empty."""
    columns: np.ndarray
    """(entries,) int32, increasing within a row."""
    values: np.ndarray
    """(entries,) float32."""


class Entries:
    """Columns and values of rows, appended block by block to a spool: 8 bytes an entry there, 2 bytes a row here."""

    def __init__(self, folder: str | Path | None):
        self.folder = folder
        self._file = Scratch(folder)
        self._rows, self._first = array("q", [0]), array("q", [0])  # rows and entries before each block, and in all
        self._lengths = array("H")  # a sentence has fewer code points than 2^15, so fewer terms and pairs than 2^16

    def __len__(self) -> int:
        return len(self._lengths)

    def close(self) -> None:
        self._file.close()

    def lengths(self) -> np.ndarray:
        """(rows,) uint16 entries of each row."""
        return np.array(self._lengths, np.uint16)

    def append(self, lengths: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Add rows; `values` (float32) and `columns` (int32) stand interleaved, so that a row is one read."""
        self._file.append(np.rec.fromarrays((columns, values), _ENTRY).tobytes())
        self._lengths.frombytes(lengths.astype(np.uint16).tobytes())
        self._rows.append(len(self._lengths))
        self._first.append(self._first[-1] + len(columns))

    def row(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        block = bisect_right(self._rows, i) - 1
        start = self._first[block] + sum(self._lengths[self._rows[block] : i])
        return self._read(start, start + self._lengths[i])

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Block]:
        """The rows `[first, last)` in blocks, numbered from `first`."""
        last = len(self) if last is None else last
        block = bisect_right(self._rows, first) - 1
        while block + 1 < len(self._rows) and self._rows[block] < last:
            start, end = max(first, self._rows[block]), min(last, self._rows[block + 1])
            lengths = np.array(self._lengths[start:end], np.int64)
            entry = self._first[block] + sum(self._lengths[self._rows[block] : start])
            yield Block(start - first, np.cumsum(lengths) - lengths, *self._read(entry, entry + int(lengths.sum())))
            block += 1

    def _read(self, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        data = np.frombuffer(self._file.read(start * _ENTRY.itemsize, end * _ENTRY.itemsize), _ENTRY)
        return data["column"], data["value"]
