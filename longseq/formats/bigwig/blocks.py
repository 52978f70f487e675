"""Packed blocks of a bigWig, one behind the other, and where each lies."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import IO

import numpy as np

from longseq.formats.bigwig.layout import BLOCK, blocks_tree


class Blocks:
    """Writes stretches of rows, none of two records, and keeps their places for the index."""

    def __init__(self, file: IO[bytes], rows: int):
        """`rows`: in a block, at most."""
        self._file, self._rows, self._at = file, rows, 0
        self._places: list[np.ndarray] = []

    def add(self, record: np.ndarray, start: np.ndarray, end: np.ndarray, packed: Callable[[int, int], bytes]) -> None:
        """Rows (N,) in order; `packed(a, b)` has the bytes of rows `[a, b)`."""
        changes = np.flatnonzero(np.concatenate([[True], record[1:] != record[:-1]]))
        lengths = np.diff(changes, append=len(record))
        within = np.arange(len(record)) - np.repeat(changes, lengths)
        first = np.flatnonzero(within % self._rows == 0)
        last = np.append(first[1:], len(record))
        places = np.zeros(len(first), BLOCK)
        places["record"] = places["last"] = record[first]
        places["start"], places["end"] = start[first], end[last - 1]
        places["size"] = [
            self._file.write(zlib.compress(packed(a, b))) for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]
        places["offset"] = self._at + np.cumsum(places["size"]) - places["size"]
        self._at += int(places["size"].sum())
        self._places.append(places)

    @property
    def number(self) -> int:
        return sum(map(len, self._places))

    def index(self, at: int) -> bytes:
        """Where the first block lies at `at`."""
        places = np.concatenate(self._places)
        places["offset"] += np.uint64(at)
        return blocks_tree(places, at + self._at)
