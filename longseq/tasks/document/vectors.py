"""Sentences as unit vectors of hashed, non-negative TF-IDF, kept in a spool and read block by block.

A vector's terms are stems of words and pairs of neighbouring ones. Terms are counted while the text streams; document
frequencies and weights follow in passes over the spool, since they need the whole text:

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

from longseq.tasks.document.entries import Block, Entries
from longseq.tokens.scratch import Scratch

BUCKETS = 1 << 20
"""Buckets for words, and as many again for pairs of words, which are more and would drown them."""
BLOCK_WORDS = 1 << 16
"""Words gathered before they are hashed and written."""
DIGESTS = 1 << 20
"""Bytes of digests in memory."""
PARTS, PART = 16, 1 << 12
"""Parts at most in which equal sentences are looked for, and rows that are worth one."""
PAGE = 1 << 10
"""Buckets that are looked through together: a short text touches few of them, and is not to pay for all."""


class TermSpool:
    """Takes the terms of one sentence after the other. Use as a context manager: the spool is a temporary file."""

    def __init__(self, folder: str | Path | None = None):
        self._folder = folder
        self._file = Entries(folder)
        self._words, self._lengths = array("Q"), array("q")  # crc32 of the words gathered, words of their rows
        self._digests, self._rows = Scratch(folder, DIGESTS), 0
        self._new = array("Q")  # digests not written yet

    def __enter__(self) -> TermSpool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._digests.close()

    def __len__(self) -> int:
        return self._rows

    def add(self, terms: Sequence[str]) -> None:
        """Append a sentence; one without terms is a row that is never kept."""
        coded = [term.encode("utf-8", "surrogatepass") for term in terms]
        self._words.extend(map(crc32, coded))
        self._lengths.append(len(coded))
        self._rows += 1
        self._new.append(int.from_bytes(blake2b(b" ".join(coded), digest_size=8).digest(), "little"))
        if len(self._words) >= BLOCK_WORDS:
            self._flush()

    def distinct(self, eligible: np.ndarray) -> np.ndarray:
        """(rows,) bool: eligible rows with terms, the first of each set of rows with the same terms in order."""
        self._flush()
        eligible = eligible & (self._file.lengths() > 0)
        digests = np.frombuffer(self._digests.read(0, len(self._digests)), np.uint64)
        keep = np.zeros(len(self), bool)
        parts = min(PARTS, 1 + len(self) // PART)
        for part in range(parts):  # a part at a time: sorting all at once would take most of the memory there is
            rows = np.flatnonzero(eligible & (digests % np.uint64(parts) == part))
            keep[rows[np.unique(digests[rows], return_index=True)[1]]] = True
        return keep

    def frequency(self, keep: np.ndarray) -> np.ndarray:
        """(2 BUCKETS,) int32: of the rows in `keep` ((rows,) bool), how many hold each term."""
        return self._counted(keep)[0]

    def vectors(self, keep: np.ndarray) -> Vectors:
        """Unit vectors of the rows in `keep` ((rows,) bool), in order. The caller closes them."""
        frequency, used = self._counted(keep)
        n = int(keep.sum())
        rarity = np.log(n / frequency[used])
        number = np.empty(2 * BUCKETS, np.int32)  # read where it is written, and nowhere else
        number[used] = np.arange(len(used), dtype=np.int32)
        out = Entries(self._folder)
        for block in self._kept(keep):
            columns = number[block.columns]
            weights = block.values * (1.0 + rarity[columns])
            lengths = np.diff(block.starts, append=len(columns))
            norms = np.sqrt(np.add.reduceat(weights * weights, block.starts))
            out.append(lengths, columns, (weights / np.repeat(norms, lengths)).astype(np.float32))
        return Vectors(out, len(used), Terms(used, rarity, frequency[used]))

    def _counted(self, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`frequency`, and the (m,) buckets in which it is not 0, in order."""
        self._flush()
        found, touched = np.zeros(2 * BUCKETS, np.int32), np.zeros(2 * BUCKETS // PAGE, bool)
        for block in self._kept(keep):
            np.add.at(found, block.columns, 1)
            touched[block.columns // PAGE] = True
        pages = np.flatnonzero(touched)
        places = np.flatnonzero(found.reshape(-1, PAGE)[pages])
        return found, pages[places // PAGE] * PAGE + places % PAGE

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
        self._digests.append(self._new.tobytes())
        self._words, self._lengths, self._new = array("Q"), array("q"), array("Q")


class Terms(NamedTuple):
    """What the columns of `Vectors` stand for."""

    used: np.ndarray
    """(m,) int64 bucket of each column, rising."""
    rarity: np.ndarray
    """(m,) float64 ln(n / df)."""
    frequency: np.ndarray
    """(m,) int32 df: rows that hold the term."""

    def numbers(self, words: Sequence[str]) -> np.ndarray:
        """(k,) int64: the column of each of these single terms, -1 of one that does not occur."""
        wanted = buckets(words)
        found = np.searchsorted(self.used, wanted)
        return np.where(np.append(self.used, -1)[found] == wanted, found, -1)

    def columns(self, words: Sequence[str]) -> np.ndarray:
        """(k,) int64: the columns of these single terms that occur, each once."""
        found = self.numbers(words)
        return np.unique(found[found >= 0])

    def single(self) -> np.ndarray:
        """(m,) bool: columns of single terms rather than pairs."""
        return self.used < BUCKETS


class Vectors:
    """The matrix V of unit rows: n rows, m columns, no entry negative. Sums run in a fixed order, in float64."""

    def __init__(self, entries: Entries, columns: int, terms: Terms | None = None):
        self._entries, self.columns = entries, columns
        self.terms = terms
        """What the columns are; None in a part."""

    def __enter__(self) -> Vectors:
        return self

    def __exit__(self, *_: object) -> None:
        self._entries.close()

    def __len__(self) -> int:
        return len(self._entries)

    def row(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Columns (int32) and values (float32) of row i."""
        return self._entries.row(i)

    def part(self, first: int, last: int) -> Vectors:
        """The rows `[first, last)` as a matrix of their own, without the columns that are empty there.

        The caller closes it.
        """
        used = np.zeros(self.columns, bool)
        for block in self._entries.blocks(first, last):
            used[block.columns] = True
        number = np.cumsum(used, dtype=np.int32) - 1
        out = Entries(self._entries.folder)
        for block in self._entries.blocks(first, last):
            lengths = np.diff(block.starts, append=len(block.columns))
            out.append(lengths, number[block.columns], block.values)
        return Vectors(out, int(used.sum()))

    def gather(self, x: np.ndarray) -> np.ndarray:
        """Vᵀx: (n,) float64 to (m,) float64."""
        out = np.zeros(self.columns)
        for block in self._entries.blocks():
            lengths = np.diff(block.starts, append=len(block.columns))
            np.add.at(
                out, block.columns, block.values * np.repeat(x[block.first : block.first + len(lengths)], lengths)
            )
        return out

    def spread(self, y: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Vy: (m,) float64 to (n,) float64, into `out` where it is given."""
        out = np.zeros(len(self)) if out is None else out
        for block in self._entries.blocks():
            sums = np.add.reduceat(block.values * y[block.columns], block.starts)
            out[block.first : block.first + len(sums)] = sums
        return out

    def mean(self, y: np.ndarray, over: np.ndarray) -> np.ndarray:
        """(n,) float64: of each row, the mean of y ((m,) float64) over its columns in `over` ((m,) bool); 0 of none."""
        out = np.zeros(len(self))
        for block in self._entries.blocks():
            counted = over[block.columns]
            sums = np.add.reduceat(np.where(counted, y[block.columns], 0.0), block.starts)
            number = np.add.reduceat(counted.astype(np.int64), block.starts)
            out[block.first : block.first + len(sums)] = sums / np.maximum(number, 1)
        return out

    def most(self, y: np.ndarray) -> np.ndarray:
        """(n,) float64: of each row, the greatest of y ((m,) float64) over its columns."""
        out = np.zeros(len(self))
        for block in self._entries.blocks():
            top = np.maximum.reduceat(y[block.columns], block.starts)
            out[block.first : block.first + len(top)] = top
        return out

    def squares(self) -> np.ndarray:
        """(m,) float64: the sum of squares of each column."""
        out = np.zeros(self.columns)
        for block in self._entries.blocks():
            np.add.at(out, block.columns, block.values.astype(np.float64) ** 2)
        return out

    def lengths(self) -> np.ndarray:
        """(n,) uint16 entries of each row."""
        return self._entries.lengths()


_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))  # odd, so that multiplying loses nothing


def buckets(words: Sequence[str]) -> np.ndarray:
    """(k,) int64: the buckets of these single terms."""
    return _bucket(np.array([crc32(word.encode("utf-8", "surrogatepass")) for word in words], np.uint64))


def _bucket(keys: np.ndarray) -> np.ndarray:
    """The top 20 bits of a product modulo 2^64 depend on every bit of the key (Knuth, TAOCP 3, 6.4)."""
    return ((keys ^ (keys >> np.uint64(32))) * _ODD[0] >> np.uint64(44)).astype(np.int64)
