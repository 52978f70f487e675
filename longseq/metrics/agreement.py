"""How near vectors of the same texts by two models are: to each other, and in which texts they find alike."""

from __future__ import annotations

import numpy as np

from longseq.metrics.numbers import mean_ranks, pearson


def cosines(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """(N,) of each vector of ours (N, D) to the same one of theirs; of a zero vector 0."""
    return (units(ours) * units(theirs)).sum(-1)


def spearman_of_pairs(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Rank correlation of the cosines of all N (N - 1) / 2 pairs of texts, vectors (N, D) each; NaN of less than three
    texts."""
    above = np.triu_indices(len(ours), 1)
    ranks = [mean_ranks((units(vectors) @ units(vectors).T)[above]) for vectors in (ours, theirs)]
    return pearson(*ranks) if len(ours) > 2 else float("nan")


def neighbours_kept(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """(N,) bool: whether the nearest other text by cosine is the same, vectors (N, D) each, N >= 2."""
    return np.equal(*(_nearest(vectors) for vectors in (ours, theirs)))


def units(vectors: np.ndarray) -> np.ndarray:
    """Vectors (…, D) scaled to a length of 1, in float64; a zero vector stays."""
    vectors = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _nearest(vectors: np.ndarray) -> np.ndarray:
    alike = units(vectors) @ units(vectors).T
    np.fill_diagonal(alike, -np.inf)
    return alike.argmax(1)
