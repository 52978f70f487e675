"""Whole records of a store, by position: what it left out, the gaps, is N again."""

from __future__ import annotations

import numpy as np

from longseq.training.store import Store


class Records:
    """Letters of the records of a store, as ids."""

    def __init__(self, store: Store, unknown: int):
        """`unknown` is the id of N."""
        self._store, self._unknown = store, unknown
        self.ids = [str(name) for name in store.records["id"]]
        self.lengths = np.array(store.records["length"], np.int64)
        """(R,) letters."""
        rows = np.arange(len(self.ids) + 1)
        self._first = np.searchsorted(store.stretches.record, rows)  # stretches stand in order of record

    def read(self, record: int, start: int, end: int) -> np.ndarray:
        """Ids (end - start,) uint8 of letters `[start, end)` of a record."""
        found = np.full(end - start, self._unknown, np.uint8)
        stretches = self._store.stretches
        for s in range(self._first[record], self._first[record + 1]):
            begin = int(stretches.start[s])
            a, b = max(start, begin), min(end, begin + int(stretches.length[s]))
            if b > a:
                offset = int(stretches.offset[s]) - begin
                found[a - start : b - start] = self._store.read(offset + a, offset + b)
        return found
