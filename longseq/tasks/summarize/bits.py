"""Bits a base of a model along a record, one strand at a time, gathered into windows.

A model gives each base's bits given all bases before it in the order of reading. Forward that is the base's own
place. On the reverse complement the i-th value belongs to base L - 1 - i, so windows fill from the record's end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from longseq.results.dna import SurprisingWindow, WindowColumns


class Scored(Protocol):
    """Consecutive bases of one strand."""

    @property
    def bits(self) -> np.ndarray:
        """(T,) float32; NaN where a base is not A, C, G or T."""


class Surprisal(Protocol):
    """A model that reads strands from front to back."""

    def many(
        self, records: Iterable[tuple[Any, Iterable[bytes]]], *, watch: Callable[[Any], Any] | None = None
    ) -> Iterator[tuple[Any, Iterable[Scored]]]:
        """Each key with the bases of its letters, in input order; how letters are cut into pieces changes nothing.
        `watch` is as in `longseq.streaming.Surprisal.many`; it is given where vectors are wanted only.

        Letters may be walked ahead and in another thread, those of one key before the next key is asked for. An
        InputError among them comes out of the key's own bases.
        """


class BitsMeter:
    """Sums of bits in windows; fed in pieces of any size, which do not matter to a single bit.

    Args:
        window: Values a window.
        first: Values in the first window; what is left of the record where it is read from its end.
    """

    def __init__(self, window: int, first: int | None = None):
        self._window, self._next = window, first or window
        self._waiting: list[np.ndarray] = []
        self._size = 0
        self._sums: list[float] = []
        self._bases: list[int] = []

    def push(self, bits: np.ndarray) -> None:
        self._waiting.append(bits)
        self._size += len(bits)
        if self._size >= self._next:
            whole, at = np.concatenate(self._waiting), 0
            while self._size - at >= self._next:
                self._add(whole[at : at + self._next])
                at, self._next = at + self._next, self._window
            self._waiting, self._size = [whole[at:]], self._size - at

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """(W,) float64 sums of bits and (W,) int64 bases they are of, in order of reading."""
        if self._size:
            self._add(np.concatenate(self._waiting))
            self._waiting, self._size = [], 0
        return np.array(self._sums, np.float64), np.array(self._bases, np.int64)

    def _add(self, bits: np.ndarray) -> None:
        known = ~np.isnan(bits)
        self._sums.append(float(np.sum(bits, dtype=np.float64, where=known)))
        self._bases.append(int(np.count_nonzero(known)))


def surprising_windows(
    windows: WindowColumns, bases: np.ndarray, *, window: int, top: int
) -> tuple[SurprisingWindow, ...]:
    """The `top` windows of most bits a base, ties by place, out of those at least half full of bases (`bases`, (W,)).

    None costs less than the mean of its record; a record with fewer than two such windows has none.
    """
    full = np.flatnonzero((2 * bases >= window) & ~np.isnan(windows.bits))
    if len(full) < 2:
        return ()
    bits = windows.bits[full].astype(np.float64)
    mean, deviation = float(bits.mean()), float(bits.std())
    return tuple(
        SurprisingWindow(
            start=int(windows.start[full[i]]),
            end=int(windows.end[full[i]]),
            bits=float(bits[i]),
            z=(float(bits[i]) - mean) / deviation if deviation > 0 else None,
        )
        for i in np.argsort(-bits, kind="stable")[:top]
        if bits[i] >= mean
    )
