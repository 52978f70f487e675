"""Pooling of hidden vectors by unit, as they pass: the rows of a record."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from longseq.streaming.rows import RowSpool
from longseq.tasks.embed.request import Pool
from longseq.tasks.places import Places

IN_MEMORY = 1 << 20
"""Numbers of rows before they go to a file."""


class Pooled:
    """Takes the hidden vectors of one reading of a record and keeps a row a unit: the pooled vector, then a 1 where a
    token said something, else a 0."""

    def __init__(self, places: Places, pool: Pool, width: int, known: np.ndarray, reverse: bool = False):
        """`known` (V,) bool of ids that count; `reverse`: the reading begins at the record's end."""
        self._places, self._pool, self._width, self._known, self._reverse = places, pool, width, known, reverse
        self.tokens = 0
        self.total = 0
        """Tokens of the record, set before a reading in reverse begins."""
        self._rows = _Rows(width + 1)
        self._open: tuple[int, np.ndarray, int] | None = None

    def take(self, ids: np.ndarray, hidden: Tensor) -> None:
        """Ids (t,) of the next tokens and their vectors (t, D)."""
        vectors = hidden.cpu().numpy()
        token = np.arange(self.tokens, self.tokens + len(ids))
        self.tokens += len(ids)
        units = self._places.units(self.total - 1 - token if self._reverse else token)
        known = self._known[ids]
        starts = np.flatnonzero(np.concatenate([[True], units[1:] != units[:-1]]))
        found, counts = self._reduced(vectors, known, starts), np.add.reduceat(known.astype(np.int64), starts)
        of = units[starts]
        if self._open is not None and self._open[0] == of[0]:
            found[0] = self._joined(self._open[1], self._open[2], found[0], int(counts[0]))
            counts[0] += self._open[2]
        elif self._open is not None:
            of = np.append(self._open[0], of)
            found, counts = np.concatenate([self._open[1][None], found]), np.append(self._open[2], counts)
        self._open = int(of[-1]), found[-1].copy(), int(counts[-1])
        self._close(of[:-1], found[:-1], counts[:-1])

    def finish(self) -> None:
        """The reading has ended."""
        if self._open is not None:
            of, found, counts = self._open
            self._close(np.array([of]), found[None], np.array([counts]))
            self._open = None

    def rows(self, start: int, end: int) -> np.ndarray:
        """(end - start, D + 1) float32 of these units."""
        return self._rows.read(start, end)

    def close(self) -> None:
        self._rows.close()

    def _reduced(self, vectors: np.ndarray, known: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """(k, D) float64 of each run of tokens: the sum, the maximum, or the last of those known."""
        if self._pool == "last":
            place = np.maximum.reduceat(np.where(known, np.arange(len(known)), -1), starts)
            return vectors[place].astype(np.float64)  # of a run without any, a row that does not count
        if self._pool == "max":
            return np.maximum.reduceat(np.where(known[:, None], vectors, -np.inf), starts).astype(np.float64)
        return np.add.reduceat(np.where(known[:, None], vectors, 0).astype(np.float64), starts)

    def _joined(self, before: np.ndarray, count: int, after: np.ndarray, more: int) -> np.ndarray:
        if self._pool == "last":
            return after if more else before
        return np.maximum(before, after) if self._pool == "max" else before + after

    def _close(self, of: np.ndarray, found: np.ndarray, counts: np.ndarray) -> None:
        if not len(of):
            return
        if self._pool == "mean":
            found = found / np.maximum(counts, 1)[:, None]
        rows = np.concatenate([np.where(counts[:, None] > 0, found, 0), counts[:, None] > 0], 1).astype(np.float32)
        if self._reverse:
            of, rows = of[::-1], rows[::-1]
        breaks = np.flatnonzero(np.diff(of) != 1) + 1  # sections without a token
        for first, last in zip([0, *breaks.tolist()], [*breaks.tolist(), len(of)], strict=True):
            self._rows.write(int(of[first]), rows[first:last])


class _Rows:
    """Rows by number, in memory while they are few; what was not written is zeros."""

    def __init__(self, width: int):
        self._width, self._held = width, np.zeros((0, width), np.float32)
        self._spool: RowSpool | None = None
        self._length = 0

    def write(self, start: int, rows: np.ndarray) -> None:
        self._length = max(self._length, start + len(rows))
        if self._spool is None and self._length * self._width <= IN_MEMORY:
            if self._length > len(self._held):
                more = min(max(self._length, 2 * len(self._held)), IN_MEMORY // self._width)
                self._held = np.concatenate([self._held, np.zeros((more - len(self._held), self._width), np.float32)])
            self._held[start : start + len(rows)] = rows
            return
        if self._spool is None:
            self._spool = RowSpool(self._width, np.float32)
            self._spool.write(0, self._held)
            self._held = self._held[:0]
        self._spool.write(start, rows)

    def read(self, start: int, end: int) -> np.ndarray:
        found = self._held[start:end] if self._spool is None else self._spool.read(start, end)
        return np.concatenate([found, np.zeros((end - start - len(found), self._width), np.float32)])

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()
