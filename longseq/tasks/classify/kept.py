"""The ids of a record, to be read again."""

from __future__ import annotations

import numpy as np

from longseq.streaming.rows import RowSpool

IN_MEMORY = 1 << 16
"""Tokens of a record before they go to a file."""


class Ids:
    """The ids of a record, to be read again: in memory while they are few."""

    def __init__(self) -> None:
        self._held = np.zeros(0, np.int64)
        self._spool: RowSpool | None = None
        self.length = 0

    def add(self, ids: np.ndarray) -> None:
        if self._spool is None and self.length + len(ids) <= IN_MEMORY:
            self._held = np.concatenate([self._held, ids])
        else:
            if self._spool is None:
                self._spool = RowSpool(1, np.int32)
                self._spool.write(0, self._held[:, None])
                self._held = self._held[:0]
            self._spool.write(self.length, ids[:, None])
        self.length += len(ids)

    def read(self, start: int, end: int) -> np.ndarray:
        return self._held[start:end] if self._spool is None else self._spool.read(start, end)[:, 0].astype(np.int64)

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()
