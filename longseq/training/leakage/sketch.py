"""How much of what is held out is also learned from: containment by FracMinHash.

Of all hashes those below a limit are looked at, the same share of every record (Irber et al. 2022, "Lightweight
compositional analysis of metagenomes with FracMinHash"). The share of those of a record that another set holds
estimates the containment |K(a) ∩ K(b)| / |K(a)| (Koslicki & Zabeti 2019). Only the hashes of what is held out are kept,
at most `MOST` of them; what is learned from is read past them. Ids are read from the store in blocks, wherever records
begin and end, so that a million short records cost no more than one long one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from longseq.training.leakage.shingles import Shingles
from longseq.training.store import Stretches

MOST = 1 << 20
"""Hashes kept."""
SPARSE = 64
"""To spare time, up to so few hashes are looked at, one in 64, where there are more than `MOST` to learn from."""
BLOCK = 1 << 15
"""Ids at once: what their hashes take stays in a cache."""
_ALL = np.uint64(2**64 - 1)


class Readable(Protocol):
    """A store of ids."""

    def read(self, start: int, end: int) -> np.ndarray: ...


class Overlap(NamedTuple):
    """What records held out share with records learned from: R records with any shingle, and their hashes."""

    exact: bool
    """Whether every shingle was looked at."""
    records: np.ndarray
    """(R,) rows of the store, in order."""
    hashes: np.ndarray
    """(R,) distinct ones looked at of each."""
    shared: np.ndarray
    """(R,) those of them that are learned from too."""
    source: np.ndarray
    """(R,) the record that most of these were first found in; -1: none."""


def overlap(store: Readable, train: Stretches, held_out: Stretches, shingles: Shingles) -> Overlap:
    """Read what is held out, then what is learned from."""
    sparse = max(1, min(SPARSE, train.bases // MOST), -(-held_out.bases // MOST))
    limit = _ALL // np.uint64(sparse)
    hashes, records, limit = _kept(store, held_out, shingles, limit)
    distinct, place = np.unique(hashes, return_inverse=True)
    source = np.full(len(distinct), -1, np.int32)
    for found, record in _selected(store, train, shingles, limit) if len(distinct) else ():
        at = np.minimum(np.searchsorted(distinct, found), len(distinct) - 1)
        new = (distinct[at] == found) & (source[at] < 0)
        source[at[new][::-1]] = record[new][::-1]  # of several records the first
    which, record = np.unique(records, return_inverse=True)
    from_ = source[place]
    return Overlap(
        bool(limit == _ALL),
        which,
        np.bincount(record, minlength=len(which)),
        np.bincount(record, from_ >= 0, len(which)).astype(np.int64),
        _most_frequent(record, from_, len(which)),
    )


def _kept(
    store: Readable, parts: Stretches, shingles: Shingles, limit: np.uint64
) -> tuple[np.ndarray, np.ndarray, np.uint64]:
    """(E,) distinct pairs of hash and record, and the limit below which they are; lowered where they are too many."""
    hashes, records = np.zeros(0, np.uint64), np.zeros(0, np.int32)
    waiting: list[tuple[np.ndarray, np.ndarray]] = []
    many = 0
    for found in _selected(store, parts, shingles, limit):
        waiting.append(found)
        many += len(found[0])
        if many >= MOST:
            hashes, records, limit = _thinned(hashes, records, waiting, limit)
            waiting, many = [], 0
    return _thinned(hashes, records, waiting, limit)


def _thinned(
    hashes: np.ndarray, records: np.ndarray, waiting: list[tuple[np.ndarray, np.ndarray]], limit: np.uint64
) -> tuple[np.ndarray, np.ndarray, np.uint64]:
    hashes = np.concatenate([hashes, *(found for found, _ in waiting)])
    records = np.concatenate([records, *(record for _, record in waiting)])
    below = hashes <= limit
    hashes, records = hashes[below], records[below]
    order = np.lexsort((records, hashes))
    hashes, records = hashes[order], records[order]
    first = np.concatenate([[True], (np.diff(hashes) > 0) | (np.diff(records) != 0)])[: len(hashes)]
    hashes, records = hashes[first], records[first]
    while len(hashes) > MOST:
        limit = limit // np.uint64(2)
        below = hashes <= limit
        hashes, records = hashes[below], records[below]
    return hashes, records, limit


def _selected(
    store: Readable, parts: Stretches, shingles: Shingles, limit: np.uint64
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Hashes up to the limit of the shingles inside these parts, and the record of each, block by block."""
    order = np.argsort(parts.offset, kind="stable")
    first, record = parts.offset[order], parts.record[order]
    last = first + parts.length[order]
    for start, end in _spans(first, last, shingles.length):
        ids = store.read(start, end)
        found, whole = shingles.hashes(ids)
        chosen = np.flatnonzero(found <= limit)
        chosen = chosen[whole[chosen]]
        part = np.searchsorted(first, start + chosen, side="right") - 1
        inside = (part >= 0) & (start + chosen + shingles.length <= last[part])
        yield found[chosen[inside]], record[part[inside]]


def _spans(first: np.ndarray, last: np.ndarray, length: int) -> Iterator[tuple[int, int]]:
    """Pieces of the store that cover these parts, each long enough for a shingle, and begun where the last one's ended.

    Parts with little between them are read together.
    """
    if not len(first):
        return
    apart = np.flatnonzero(first[1:] - last[:-1] > BLOCK)
    starts = first[np.concatenate([[0], apart + 1])]
    ends = last[np.concatenate([apart, [len(last) - 1]])]
    for begin, end in zip(starts.tolist(), ends.tolist(), strict=True):
        for start in range(begin, end - length + 1, BLOCK):
            yield start, min(start + BLOCK + length - 1, end)


def _most_frequent(group: np.ndarray, value: np.ndarray, groups: int) -> np.ndarray:
    """(G,) the value >= 0 that a group has most often, of as many the first one; -1: none."""
    result = np.full(groups, -1, np.int64)
    some = value >= 0
    if some.any():
        base = int(value.max()) + 1
        pairs, counts = np.unique(group[some] * base + value[some], return_counts=True)
        order = np.lexsort((-pairs, counts))
        result[pairs[order] // base] = pairs[order] % base  # the last one written stays
    return result
