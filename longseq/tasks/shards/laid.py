"""Rows of numbers of one record after another, laid aside in a shard's spool as they come."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longseq.tasks.shards.spool import Bulk, SpoolReader, SpoolWriter

PIECE = 1 << 18
"""Numbers read back at once, about."""


class Laid:
    """Takes rows (T, width) as a file of rows does, those of a record in order and not amid those of another `Laid`."""

    def __init__(self, spool: SpoolWriter, width: int, dtype: np.dtype | type | str):
        self._spool, self._width, self._dtype = spool, width, np.dtype(dtype)
        self._end = 0

    def write(self, start: int, rows: np.ndarray) -> None:
        """The next rows; `start` is not looked at, since they come in order."""
        bulk = self._spool.keep([rows], self._dtype)
        self._end = bulk.at + bulk.count * self._dtype.itemsize

    def last(self, rows: int) -> Bulk:
        """Where the last so many rows lie."""
        count = rows * self._width
        return Bulk(self._end - count * self._dtype.itemsize, count, self._dtype.str)


def blocks(spool: SpoolReader, bulk: Bulk, width: int) -> Iterator[tuple[int, np.ndarray]]:
    """Those rows again, some (T, width) at a time, each with the number of its first."""
    first = 0
    for piece in spool.pieces(bulk, size=max(PIECE // width, 1) * width):
        rows = piece.reshape(-1, width)
        yield first, rows
        first += len(rows)
