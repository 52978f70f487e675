"""The ids of a record, to be read again."""

from __future__ import annotations

import numpy as np

from longseq.tokens.scratch import Scratch

IN_MEMORY = 1 << 18
"""Bytes of a record's ids before they go to a file."""
ID = np.dtype(np.int32)


class Ids:
    """The ids of a record, to be read again: in memory while they are few."""

    def __init__(self) -> None:
        self._file = Scratch(None, IN_MEMORY, room="four bytes for each token of the longest record")

    def __len__(self) -> int:
        return len(self._file) // ID.itemsize

    def add(self, ids: np.ndarray) -> None:
        """Append ids (t,)."""
        self._file.append(ids.astype(ID).tobytes())

    def read(self, start: int, end: int) -> np.ndarray:
        """Ids `[start, end)` int64, which were appended before."""
        return np.frombuffer(self._file.read(start * ID.itemsize, end * ID.itemsize), ID).astype(np.int64)

    def close(self) -> None:
        self._file.close()
