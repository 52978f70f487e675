"""Composition in windows along a record: counts, entropies, CpG, low complexity, soft mask.

Windows are measured many at a time, each from its own letters alone: a pair or triplet belongs to a window when all of
it does. Low complexity is looked for in tiles of 64 bases, the first of which starts with the window; a triplet belongs
to the tile in which it begins.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from longseq.results.dna import WindowColumns

TILE = 64
"""Bases in which a DUST score is taken; dustmasker's default."""
LOW = 2.0
"""DUST score above which a tile counts as low in complexity; level 20 of dustmasker."""
BATCH = 1 << 17
"""Letters measured together, at least one window: what fits the processor's cache."""

COUNTS = np.dtype(
    [
        ("letters", np.int32),
        ("acgt", np.int32, 4),
        ("n", np.int32),
        ("lower", np.int32),
        ("cpg", np.int32),
        ("pairs", np.int32, 10),
        ("entropy_triplet", np.float32),
        ("dust", np.float32),
        ("low_complexity", np.float32),
    ]
)
"""What is kept of a window. `cpg` counts C followed by G, `pairs` are those of
`both_strands`; `dust` is the mean score of the tiles weighted by their
triplets, `low_complexity` the percent of triplets in tiles above LOW; the three floats are NaN without a triplet."""

_CODE = np.full(256, 64, np.int64)
for _letter, _number in zip(b"ACTGUactgu", (0, 1, 2, 3, 2) * 2, strict=True):
    _CODE[_letter] = _number  # the order in which bits 1 and 2 of the ASCII letters number them


# Triplets count bases in the order A, C, T, G, so that the complement of x is x ^ 2.
_OTHER = [4 * ((pair & 3) ^ 2) + ((pair >> 2) ^ 2) for pair in range(16)]
_STRANDS = np.eye(16, dtype=np.int64)[:, [pair for pair in range(16) if pair <= _OTHER[pair]]]
for _pair, _other in enumerate(_OTHER):
    _STRANDS[max(_pair, _other)] = _STRANDS[min(_pair, _other)]


class WindowMeter:
    """Measures a record in windows of `window` letters; fed in pieces of any size, which do not matter."""

    def __init__(self, window: int):
        self._window = window
        self._batch = max(1, BATCH // window) * window
        self._waiting: list[bytes] = []
        self._size = 0
        self._measured: list[np.ndarray] = []
        self._triplets = np.zeros(64, np.int64)
        self._tail = b""
        """The last two letters measured."""

    def push(self, letters: bytes) -> None:
        self._waiting.append(letters)
        self._size += len(letters)
        if self._size >= self._batch:
            whole = b"".join(self._waiting)
            done = self._size - self._size % self._batch
            for start in range(0, done, self._batch):
                self._measure(whole[start : start + self._batch])
            self._waiting, self._size = [whole[done:]], self._size - done

    def unmeasured(self) -> bytes:
        """Letters that wait for their batch to fill."""
        return b"".join(self._waiting)

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """(W,) of COUNTS, and (64,) int64 triplets of the whole record, those across windows included."""
        if self._size:
            self._measure(self.unmeasured())
            self._waiting, self._size = [], 0
        return np.concatenate([np.empty(0, COUNTS), *self._measured]), self._triplets

    def _measure(self, letters: bytes) -> None:
        lengths = np.diff([*range(0, len(letters), self._window), len(letters)])
        counts, triplets = measure(letters, lengths)
        self._measured.append(counts)
        self._triplets += triplets.sum(axis=0)
        self._triplets += _across(self._tail, letters, self._window)
        self._tail = letters[-2:]


class Layout(NamedTuple):
    """Where the windows and tiles of a batch lie."""

    ends: np.ndarray
    """(W,) int64."""
    first_tile: np.ndarray
    """(W,) int64."""
    tiles: int
    bins: np.ndarray
    """(letters - 2,) int64: 64 · tile of each triplet; 64 · tiles where it crosses the end of a window."""


def measure(letters: bytes, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measure W >= 1 windows that lie one behind the other in `letters`, `lengths` (W,) int64, each 1 or more.

    Returns (W,) of COUNTS and (W, 64) int64 triplets.
    """
    layout = _layout(lengths.tobytes())
    array = np.frombuffer(letters, np.uint8)
    upper = array & 0xDF
    a, c, g, t = (upper == code for code in b"ACGT")
    t |= upper == ord("U")
    cpg = np.zeros(len(array), bool)
    np.logical_and(c[:-1], g[1:], out=cpg[:-1])
    cpg[layout.ends - 1] = False
    masks = (a, c, g, t, upper == ord("N"), array >= ord("a"), cpg)
    out = np.empty(len(lengths), COUNTS)
    start, sums = 0, []
    for end in layout.ends.tolist():  # a count over a slice beats any segmented sum
        sums.append([np.count_nonzero(mask[start:end]) for mask in masks])
        start = end
    table = np.array(sums)
    out["letters"] = lengths
    out["acgt"], out["n"], out["lower"], out["cpg"] = table[:, :4], table[:, 4], table[:, 5], table[:, 6]
    uncalled = None if table[:, :4].sum() == len(array) else ~(a | c | g | t)
    tile_triplets = _tile_triplets(array, uncalled, layout)
    triplets = np.add.reduceat(tile_triplets, layout.first_tile, axis=0)
    out["pairs"] = both_strands(triplets)
    out["entropy_triplet"] = entropy(triplets)
    in_tile = tile_triplets.sum(axis=1)
    # DUST: pairs of equal triplets, sum of c (c - 1) / 2, over one less than the number of triplets
    pairs = (np.einsum("ij,ij->i", tile_triplets, tile_triplets) - in_tile) / 2
    score = pairs / np.maximum(in_tile - 1, 1)
    in_window = triplets.sum(axis=1)
    out["dust"] = _ratio(np.add.reduceat(score * in_tile, layout.first_tile), in_window)
    out["low_complexity"] = 100 * _ratio(np.add.reduceat((score > LOW) * in_tile, layout.first_tile), in_window)
    return out, triplets


def columns(
    counts: np.ndarray,
    *,
    start: np.ndarray,
    masked: np.ndarray,
    forward: np.ndarray | None = None,
    reverse: np.ndarray | None = None,
) -> WindowColumns:
    """The report's columns from (W,) COUNTS.

    Args:
        counts: What was measured.
        start: (W,) int64, first base of each window.
        masked: (W,) bool, whether lower case is a mask there.
        forward, reverse: (W,) float64, mean bits a base of each strand that was read.
    """
    letters = counts["letters"].astype(np.int64)
    acgt = counts["acgt"].astype(np.float64)
    a, c, g, t = acgt.T
    called = acgt.sum(axis=1)
    nothing = called == 0
    nan = np.full(len(counts), np.nan)
    read = [bits for bits in (forward, reverse) if bits is not None]
    return WindowColumns(
        start=start,
        end=start + letters,
        **{name: counts["acgt"][:, i] for i, name in enumerate("acgt")},
        n=counts["n"],
        **{
            name: np.where(nothing, np.nan, values).astype(np.float32)
            for name, values in {
                "gc": 100 * _ratio(g + c, called),
                "gc_skew": _ratio(g - c, g + c),
                "at_skew": _ratio(a - t, a + t),
                "entropy": entropy(acgt),
                "entropy_triplet": counts["entropy_triplet"],
                "cpg": _ratio(counts["cpg"] * called, c * g),
                "dust": counts["dust"],
                "low_complexity": counts["low_complexity"],
                "softmask": np.where(masked, 100 * _ratio(counts["lower"], letters), np.nan),
                "bits_forward": nan if forward is None else forward,
                "bits_reverse": nan if reverse is None else reverse,
                "bits": sum(read) / len(read) if read else nan,
            }.items()
        },
    )


def entropy(counts: np.ndarray) -> np.ndarray:
    """Shannon entropy in bits of each row of (..., K) counts; NaN where a row is all zero."""
    total = counts.sum(axis=-1, keepdims=True)
    p = _ratio(counts, total)
    return 0.0 - (p * np.log2(np.where(p > 0, p, 1))).sum(axis=-1)  # of one letter alone 0, not -0


def conditional_entropy(triplets: np.ndarray) -> np.ndarray:
    """Entropy in bits of a base given the two before it, from (R, 64) triplet counts; NaN where there are none."""
    pairs = triplets.reshape(-1, 16, 4).sum(axis=2)
    return np.maximum(entropy(triplets) - entropy(pairs), 0.0)


def both_strands(triplets: np.ndarray) -> np.ndarray:
    """(R, 10) pairs of bases, each with its reverse complement, from (R, 64) triplets: the first two bases of each."""
    return triplets.reshape(-1, 16, 4).sum(axis=2) @ _STRANDS


@lru_cache(maxsize=1)  # the batches of a long record are all alike
def _layout(lengths: bytes) -> Layout:
    sizes = np.frombuffer(lengths, np.int64)
    ends = np.cumsum(sizes)
    in_window = -(-sizes // TILE)
    tiles = int(in_window.sum())
    last_tile = np.cumsum(in_window) - 1
    tile_sizes = np.full(tiles, TILE)
    tile_sizes[last_tile] = sizes - (in_window - 1) * TILE
    bins = np.repeat(np.arange(tiles) << 6, tile_sizes)
    bins[ends - 1] = tiles << 6
    bins[np.maximum(ends - 2, 0)] = tiles << 6
    return Layout(ends, last_tile - in_window + 1, tiles, bins[:-2])


def _tile_triplets(array: np.ndarray, uncalled: np.ndarray | None, layout: Layout) -> np.ndarray:
    """(tiles, 64) int64; a triplet with an uncalled letter or across a window's end goes to a bin that is dropped."""
    code = (array >> 1) & 3
    triplet = (code[:-2] << 4) | (code[1:-1] << 2) | code[2:]
    bins = layout.bins | triplet
    if uncalled is not None:
        bins[uncalled[:-2] | uncalled[1:-1] | uncalled[2:]] = layout.tiles << 6
    return np.bincount(bins, minlength=(layout.tiles + 1) << 6)[: layout.tiles << 6].reshape(-1, 64)


def _across(tail: bytes, letters: bytes, window: int) -> np.ndarray:
    """(64,) triplets across the starts of the windows of `letters`, `tail` being the two letters before the first."""
    starts = np.arange(0 if tail else window, len(letters), window)
    padded = np.frombuffer(tail.rjust(2, b"N") + letters + b"N", np.uint8)
    code = _CODE[padded[starts[:, None] + np.arange(4)]]
    triplet = code[:, :-2] * 16 + code[:, 1:-1] * 4 + code[:, 2:]
    return np.bincount(triplet[triplet < 64], minlength=64)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole in float64, NaN where the whole is nothing."""
    shape = np.broadcast_shapes(np.shape(part), np.shape(whole))
    return np.divide(part, whole, out=np.full(shape, np.nan), where=np.asarray(whole) != 0)
