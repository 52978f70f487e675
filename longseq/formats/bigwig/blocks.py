"""Blocks of a bigWig, one behind the other, and where each lies."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO

import numpy as np

from longseq.formats.bigwig.layout import BED_GRAPH, BLOCK, HEAD_WORDS, blocks_tree

WORD = np.dtype("<u4")


class Blocks:
    """Writes stretches of rows, none of two records, and keeps their places for the index."""

    def __init__(self, file: IO[bytes], rows: int, *, values: bool, packed: bool):
        """`rows`: in a block, at most. `values`: they are values and have a head, or they are summaries. `packed`: by
        zlib; either all blocks of a file or none."""
        self._file, self._rows, self._at = file, rows, 0
        self._values, self._packed = values, packed
        self._places: list[np.ndarray] = []

    def add(self, record: np.ndarray, start: np.ndarray, end: np.ndarray, items: np.ndarray) -> None:
        """Rows (N,) in order: of what record, from where to where, and as they stand in the file."""
        changes = np.flatnonzero(np.concatenate([[True], record[1:] != record[:-1]]))
        lengths = np.diff(changes, append=len(record))
        within = np.arange(len(record)) - np.repeat(changes, lengths)
        first = np.flatnonzero(within % self._rows == 0)
        last = np.append(first[1:], len(record))
        places = np.zeros(len(first), BLOCK)
        places["record"] = places["last"] = record[first]
        places["start"], places["end"] = start[first], end[last - 1]
        heads = _heads(places, last - first) if self._values else np.zeros((len(first), 0), WORD)
        words = items.view(WORD).reshape(len(items), -1)
        sizes = heads.shape[1] + words.shape[1] * (last - first)
        data = _behind_heads(heads, words, sizes)
        if self._packed:
            ends = np.cumsum(WORD.itemsize * sizes).tolist()
            view = memoryview(data.tobytes())
            blocks = [zlib.compress(view[a:b]) for a, b in zip([0, *ends], ends, strict=False)]
            self._file.writelines(blocks)
            places["size"] = list(map(len, blocks))
        else:
            self._file.write(data.tobytes())
            places["size"] = WORD.itemsize * sizes
        places["offset"] = self._at + np.cumsum(places["size"]) - places["size"]
        self._at += int(places["size"].sum())
        self._places.append(places)

    @property
    def number(self) -> int:
        return sum(map(len, self._places))

    def index(self, at: int) -> Iterator[bytes]:
        """Where the first block lies at `at`."""
        places = np.concatenate(self._places)
        places["offset"] += np.uint64(at)
        return blocks_tree(places, at + self._at)


def _heads(places: np.ndarray, count: np.ndarray) -> np.ndarray:
    """(M, 6) words in front of the values of M blocks: record, first base, end, step, span, kind and items."""
    heads = np.zeros((len(places), HEAD_WORDS), WORD)
    heads[:, 0], heads[:, 1], heads[:, 2] = places["record"], places["start"], places["end"]
    heads[:, 5] = BED_GRAPH | count << 16
    return heads


def _behind_heads(heads: np.ndarray, words: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Words of M blocks of `sizes` words each: the head of each (M, H), then its rows, of (N, W)."""
    found = np.empty(int(sizes.sum()), WORD)
    head = np.zeros(len(found), bool)
    head[(np.cumsum(sizes) - sizes)[:, None] + np.arange(heads.shape[1])] = True
    found[head], found[~head] = heads.ravel(), words.ravel()
    return found
