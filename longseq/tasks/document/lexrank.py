"""Continuous LexRank, exactly, without its matrix of similarities.

Erkan and Radev (2004), "LexRank: graph-based lexical centrality as salience in text summarization", JAIR 22, eq. 6:
the score of a sentence is its share of visits by a random walk that steps to a sentence in proportion to the cosine,
and starts anew anywhere with probability 1 - damping. With the unit vectors as rows of V (n × m) the cosines are
S = V Vᵀ, so degree and step are products with V alone, as in linear attention:

    degree = V (Vᵀ 1),    p' = (1 - damping)/n + damping V (Vᵀ (p / degree)).

Time and memory are those of the vectors, not n × n.
"""

from __future__ import annotations

import numpy as np

from longseq.tasks.document.vectors import Vectors

DAMPING = 0.85
"""Probability of following a similarity rather than starting anew."""
TOLERANCE = 1e-12
"""Sum of the changes of p at which iteration ends; p sums to 1."""
MOST_STEPS = 500
"""Steps after which it ends anyway; `DAMPING ** MOST_STEPS` is 5e-36."""


def degrees(vectors: Vectors) -> np.ndarray:
    """(n,) float64: the sum of a row's cosines with all rows, its own 1.0 among them."""
    return vectors.spread(vectors.gather(np.ones(len(vectors))))


def lexrank(vectors: Vectors, degree: np.ndarray, damping: float = DAMPING) -> np.ndarray:
    """(n,) float64 scores of the rows, 1.0 on average. The same bits for the same vectors.

    A row that resembles no other walks on the spot and keeps 1.0: `degree` tells it from an average one.

    Args:
        vectors: (n, m) unit rows, no entry negative.
        degree: (n,) their `degrees`.
        damping: in [0, 1).
    """
    n = len(vectors)
    p, step = np.full(n, 1.0 / max(n, 1)), np.empty(n)
    for _ in range(MOST_STEPS):
        np.divide(p, degree, out=step)
        vectors.spread(vectors.gather(step), out=step)
        step *= damping
        step += (1.0 - damping) / max(n, 1)
        np.abs(np.subtract(p, step, out=p), out=p)
        change = p.sum()
        p, step = step, p
        if change <= TOLERANCE:
            break
    p *= n
    return p
