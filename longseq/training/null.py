"""What is reached on held-out bases without a model: by composition, and by the best Markov model of a fixed order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from longseq.metrics.markov import StaticMarkov
from longseq.training.store import Store, Stretches

LEARNED = 2_000_000
"""Bases from which the orders are fitted at most: a few seconds."""
PIECE = 1 << 16
"""Bases of a piece of them."""
HIGHEST = 10
WORSE = 2
"""Orders in a row that were worse than the best, behind which no better one is looked for."""
UNKNOWN = 4
"""Stands between pieces: nothing is known of what comes before."""


class Null(NamedTuple):
    composition: float
    """Bits per base when only the shares of A, C, G and T of the training bases are known (order 0)."""
    bits: float
    """Bits per base of the best order."""
    order: int
    """The best order: bases before, from which the next one is foretold."""


def null(learned: np.ndarray, held_out: np.ndarray) -> Null:
    """Orders 0 to `HIGHEST` fitted on `learned` and tried on `held_out`, both uint8 codes, above 3 what is not known.

    The order is chosen by what is held out, in favour of the null. Without a known base held out all bits are NaN.
    """
    found: list[float] = []
    best = 0
    for order in range(HIGHEST + 1):
        model = StaticMarkov(order)
        model.train([learned])
        (bits,) = model.bits([held_out])
        scored = bits[np.isfinite(bits)]
        found.append(float(scored.mean(dtype=np.float64)) if len(scored) else math.nan)
        if found[order] < found[best]:
            best = order
        if order - best >= WORSE:
            break
    return Null(found[0], found[best], best)


def sample(store: Store, stretches: Stretches, seed: int, most: int = LEARNED) -> np.ndarray:
    """Bases of `stretches`, at most about `most`, in pieces drawn at random from all of them."""
    parts = -(-stretches.length // PIECE)
    row = np.repeat(np.arange(len(parts)), parts)
    start = (np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)) * PIECE
    length = np.minimum(stretches.length[row] - start, PIECE)
    order = np.random.default_rng([seed, 6]).permutation(len(row))
    chosen = order[: max(1, int((np.cumsum(length[order]) <= most).sum()))]
    first = stretches.offset[row[chosen]] + start[chosen]
    return joined(store.read(a, a + n) for a, n in zip(first.tolist(), length[chosen].tolist(), strict=True))


def joined(pieces: Iterable[np.ndarray]) -> np.ndarray:
    """Pieces end to end, uint8, an unknown letter behind each."""
    gap = np.full(1, UNKNOWN, np.uint8)
    parts = [part for piece in pieces for part in (piece, gap)]
    return np.concatenate(parts) if parts else gap
