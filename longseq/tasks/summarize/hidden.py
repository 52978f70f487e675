"""Vectors of windows, taken while a model reads for its bits; and the windows that stand for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.results.findings import Representative, VectorBlock, WindowVectors

if TYPE_CHECKING:
    from longseq.tasks.embed.pool import Pooled

AT_ONCE = 1 << 18
"""Numbers of vectors read back at once."""
MOST = 1_000
"""Windows among which representatives are looked for; of more, evenly spaced ones."""
FEWEST = 8
"""Windows from which some stand for others."""
ROUNDS = 10
"""Of moving representatives to the middle of their own, at most."""


class Pools:
    """Makes the pools of window vectors of one model."""

    def __init__(self, surprisal: Any, window: int):
        from longseq.tasks.places import known_ids

        self._checkpoint, self._window = surprisal.checkpoint, window
        self._known = known_ids(surprisal.checkpoint)

    def pool(self, total: int | None = None) -> Pooled:
        """Of a reading forwards, or of the reverse complement of a record of `total` bases."""
        from longseq.tasks.embed.pool import Pooled
        from longseq.tasks.places import Every

        width = self._checkpoint.config.width
        pooled = Pooled(Every(self._window), "mean", width, self._known, reverse=total is not None)
        pooled.total = total or 0
        return pooled

    def vectors(self, pools: Sequence[Pooled], start: np.ndarray, end: np.ndarray) -> WindowVectors:
        """Of the windows (W,) `start` to `end` of a record, from finished pools, a strand each."""

        def blocks() -> Iterator[VectorBlock]:
            size = max(AT_ONCE // self._checkpoint.config.width, 1)
            for first in range(0, len(start), size):
                last = min(first + size, len(start))
                rows = [pool.rows(first, last) for pool in pools]
                mean = sum((row[:, :-1] for row in rows[1:]), rows[0][:, :-1]) / np.float32(len(rows))
                known = rows[0][:, -1:] > 0  # the same on both strands
                yield VectorBlock(start[first:last], end[first:last], np.where(known, mean, np.float32(np.nan)))

        strand = "both" if len(pools) == 2 else "+"
        return WindowVectors(
            strand=strand,
            layer="final",
            model=self._checkpoint.sha256,
            width=self._checkpoint.config.width,
            blocks=blocks,
        )


def picked(blocks: Iterator[VectorBlock], chosen: np.ndarray) -> Iterator[VectorBlock]:
    """Of the blocks of all windows of a record, the windows that are `chosen`, (W,) bool."""
    at = 0
    for block in blocks:
        rows = chosen[at : at + len(block.start)]
        at += len(rows)
        yield VectorBlock(*(column[rows] for column in block))


def representatives(
    blocks: Callable[[], Iterator[VectorBlock]], windows: int, number: int
) -> tuple[Representative, ...]:
    """`number` of a record's `windows` that stand for all: medoids (Kaufman and Rousseeuw 1987), begun from the most
    central window and those farthest from the ones before, in Euclidean distance of vectors of one scale each channel.

    None where there are fewer than FEWEST. The one that stands for most comes first.
    """
    if windows < FEWEST or number < 1:
        return ()
    step, at = -(-windows // MOST), 0
    starts, ends, vectors = [], [], []
    for block in blocks():
        chosen = np.arange(-at % step, len(block.start), step)
        at += len(block.start)
        starts.append(block.start[chosen])
        ends.append(block.end[chosen])
        vectors.append(block.vectors[chosen])
    x = np.concatenate(vectors).astype(np.float64)
    x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9)
    squares = (x**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0))
    medoids, nearest = _medoids(distance, min(number, len(x)))
    start, end = np.concatenate(starts), np.concatenate(ends)
    counts = np.bincount(nearest, minlength=len(medoids))
    return tuple(
        Representative(start=int(start[medoids[i]]), end=int(end[medoids[i]]), share=float(counts[i] / len(x)))
        for i in np.argsort(-counts, kind="stable")
    )


def _medoids(distance: np.ndarray, number: int) -> tuple[list[int], np.ndarray]:
    """Medoids of (N, N) distances, and for each of N the place of its own."""
    medoids = [int(distance.sum(axis=1).argmin())]
    while len(medoids) < number:
        gap = distance[medoids].min(axis=0)
        if not gap.max() > 0:
            break  # the rest are equal to those there are
        medoids.append(int(gap.argmax()))
    for _ in range(ROUNDS):
        nearest = distance[medoids].argmin(axis=0)
        moved = []
        for i in range(len(medoids)):
            own = np.flatnonzero(nearest == i)
            moved.append(int(own[distance[np.ix_(own, own)].sum(axis=1).argmin()]))
        if moved == medoids:
            break
        medoids = moved
    return medoids, distance[medoids].argmin(axis=0)
