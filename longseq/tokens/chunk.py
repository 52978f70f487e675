"""A slice of a record as ids, with the coordinates it came from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Chunk(NamedTuple):
    """T consecutive tokens of one record. Coordinates are attached here, once, and never recomputed."""

    ids: np.ndarray
    """(T,) token ids: uint8 for DNA, int32 for documents."""
    start: int
    """First symbol covered, 0-based, in bases or code points of the record."""
    end: int
    """One past the last symbol covered. The chunks of a record tile [0, length)."""
    offsets: np.ndarray | None = None
    """(T, 2) int64 `[start, end)` of each token; None where token i is the one symbol start + i."""
    lower: np.ndarray | None = None
    """(T,) bool, where the letter was lower case; None where case was not kept."""

    def __len__(self) -> int:
        return len(self.ids)
