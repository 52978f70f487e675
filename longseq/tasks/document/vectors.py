"""Sentences as unit vectors of hashed, non-negative TF-IDF, kept in a spool and read block by block.

A vector's terms are words and pairs of neighbouring words (`longseq.tokens.words.terms`). Terms are counted while the
text streams; document frequencies and weights follow in passes over the spool, since they need the whole text:

    weight = (1 + ln tf) (1 + ln(n / df)),  each row divided by its Euclidean norm,

where n counts the rows that are kept and df those of them that hold the term. No weight is negative, or LexRank's
matrix would be no Markov chain.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from longseq.tasks.document.scratch import Scratch

BUCKETS = 1 << 20
"""Buckets for words, and as many again for pairs of words, which are more and would drown them."""
BLOCK_WORDS = 1 << 16
"""Words gathered before they are hashed and written."""


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


class TermSpool:
    """Takes the terms of one sentence after the other. Use as a context manager: the spool is a temporary file."""

    def __init__(self, folder: str | Path | None = None):
        self._folder = folder
        self._file = _Entries(folder)
        self._words, self._lengths = array("Q"), array("q")  # crc32 of the words gathered, words of their rows
        self._digests = array("Q")

    def __enter__(self) -> TermSpool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, terms: Sequence[str]) -> None:
        """Append a sentence; one without terms is a row that is never kept."""
        coded = [term.encode("utf-8", "surrogatepass") for term in terms]
        self._words.extend(map(crc32, coded))
        self._lengths.append(len(coded))
        self._digests.append(int.from_bytes(blake2b(b" ".join(coded), digest_size=8).digest(), "little"))
        if len(self._words) >= BLOCK_WORDS:
            self._flush()

    def distinct(self, eligible: np.ndarray) -> np.ndarray:
        """(rows,) bool: eligible rows with terms, the first of each set of rows with the same terms in order."""
        self._flush()
        rows = np.flatnonzero(eligible & (self._file.lengths() > 0))
        digests = np.frombuffer(self._digests, np.uint64)[rows]
        keep = np.zeros(len(self), bool)
        keep[rows[np.unique(digests, return_index=True)[1]]] = True
        return keep

    def vectors(self, keep: np.ndarray) -> Vectors:
        """Unit vectors of the rows in `keep` ((rows,) bool), in order. The caller closes them."""
        self._flush()
        n = int(keep.sum())
        frequency = np.zeros(2 * BUCKETS, np.int32)
        for block in self._kept(keep):
            np.add.at(frequency, block.columns, 1)
        used = np.flatnonzero(frequency)
        rarity = 1.0 + np.log(n / frequency[used])
        number = np.zeros(2 * BUCKETS, np.int32)
        number[used] = np.arange(len(used), dtype=np.int32)
        out = _Entries(self._folder)
        for block in self._kept(keep):
            columns = number[block.columns]
            weights = block.values * rarity[columns]
            lengths = np.diff(block.starts, append=len(columns))
            norms = np.sqrt(np.add.reduceat(weights * weights, block.starts))
            out.append(lengths, columns, (weights / np.repeat(norms, lengths)).astype(np.float32))
        return Vectors(out, len(used))

    def _kept(self, keep: np.ndarray) -> Iterator[Block]:
        for block in self._file.blocks():
            lengths = np.diff(block.starts, append=len(block.columns))
            rows = keep[block.first : block.first + len(lengths)]
            if rows.any():
                entries = np.repeat(rows, lengths)
                starts = np.cumsum(lengths[rows]) - lengths[rows]
                yield Block(block.first, starts, block.columns[entries], block.values[entries])

    def _flush(self) -> None:
        if not self._lengths:
            return
        words = np.frombuffer(self._words, np.uint64)
        lengths = np.frombuffer(self._lengths, np.int64)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        paired = np.flatnonzero(rows[1:] == rows[:-1])
        keys = np.concatenate(
            (
                (rows << 21) | _bucket(words),
                (rows[paired] << 21) | BUCKETS | _bucket(words[paired] * _ODD[1] + words[paired + 1]),
            )
        )
        keys, counts = np.unique(keys, return_counts=True)
        entries = np.bincount(keys >> 21, minlength=len(lengths))
        self._file.append(
            entries, (keys & (2 * BUCKETS - 1)).astype(np.int32), (1.0 + np.log(counts)).astype(np.float32)
        )
        self._words, self._lengths = array("Q"), array("q")


class Vectors:
    """The matrix V of unit rows: n rows, m columns, no entry negative. Sums run in a fixed order, in float64."""

    def __init__(self, entries: _Entries, columns: int):
        self._entries, self.columns = entries, columns
        self._starts = np.concatenate(([0], np.cumsum(entries.lengths())))

    def __enter__(self) -> Vectors:
        return self

    def __exit__(self, *_: object) -> None:
        self._entries.close()

    def __len__(self) -> int:
        return len(self._starts) - 1

    def row(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Columns (int32) and values (float32) of row i."""
        return self._entries.read(int(self._starts[i]), int(self._starts[i + 1]))

    def gather(self, x: np.ndarray) -> np.ndarray:
        """Vᵀx: (n,) float64 to (m,) float64."""
        out = np.zeros(self.columns)
        for block in self._entries.blocks():
            lengths = np.diff(block.starts, append=len(block.columns))
            np.add.at(
                out, block.columns, block.values * np.repeat(x[block.first : block.first + len(lengths)], lengths)
            )
        return out

    def spread(self, y: np.ndarray) -> np.ndarray:
        """Vy: (m,) float64 to (n,) float64."""
        parts = [np.add.reduceat(block.values * y[block.columns], block.starts) for block in self._entries.blocks()]
        return np.concatenate(parts) if parts else np.zeros(0)


_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))  # odd, so that multiplying loses nothing


def _bucket(keys: np.ndarray) -> np.ndarray:
    """The top 20 bits of a product modulo 2^64 depend on every bit of the key (Knuth, TAOCP 3, 6.4)."""
    return ((keys ^ (keys >> np.uint64(32))) * _ODD[0] >> np.uint64(44)).astype(np.int64)


class _Entries:
    """Columns and values of rows, appended block by block to a spool: 8 bytes an entry there, 8 bytes a row here."""

    def __init__(self, folder: str | Path | None):
        self._file = Scratch(folder)
        self._blocks: list[tuple[int, int]] = []  # rows and entries of each
        self._lengths = array("q")

    def close(self) -> None:
        self._file.close()

    def lengths(self) -> np.ndarray:
        """(rows,) int64 entries of each row."""
        return np.array(self._lengths, np.int64)

    def append(self, lengths: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Add rows; `values` (float32) and `columns` (int32) stand interleaved, so that a row is one read."""
        self._file.append(np.rec.fromarrays((columns, values), _ENTRY).tobytes())
        self._blocks.append((len(lengths), len(columns)))
        self._lengths.frombytes(lengths.astype(np.int64).tobytes())

    def read(self, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        data = np.frombuffer(self._file.read(start * _ENTRY.itemsize, end * _ENTRY.itemsize), _ENTRY)
        return data["column"], data["value"]

    def blocks(self) -> Iterator[Block]:
        lengths, row, entry = self.lengths(), 0, 0
        for rows, entries in self._blocks:
            part = lengths[row : row + rows]
            yield Block(row, np.cumsum(part) - part, *self.read(entry, entry + entries))
            row, entry = row + rows, entry + entries


_ENTRY = np.dtype([("column", np.int32), ("value", np.float32)])
