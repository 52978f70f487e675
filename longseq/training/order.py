"""In which order passages are read: at random, the rows of a step of like length, so that little of it is padding."""

from __future__ import annotations

import numpy as np

ALIKE = 16
"""Steps whose passages are sorted by length together."""


def of_like_length(lengths: np.ndarray, rows: int, draw: np.random.Generator, begun: int = 0) -> np.ndarray:
    """(P,) places in `lengths` (P,), each once: in random order, then in steps of `rows` of like length, the steps in
    random order.

    `begun` passages stand before these, over all epochs; the step that they left open is filled up first.
    """
    shuffled = draw.permutation(len(lengths))
    first = min(-begun % rows, len(lengths))
    order = [shuffled[:first]]
    for at in range(first, len(lengths), ALIKE * rows):
        some = shuffled[at : at + ALIKE * rows]
        some = some[np.argsort(lengths[some], kind="stable")]
        whole = len(some) // rows * rows
        steps = some[:whole].reshape(-1, rows)
        order += [steps[draw.permutation(len(steps))].ravel(), some[whole:]]
    return np.concatenate(order)
