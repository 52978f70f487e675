"""Laws of the order of passages: each once an epoch, and the rows of every whole step alike."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longseq.training.order import ALIKE, of_like_length


def drawn(lengths, rows, epoch, seed=0):
    return of_like_length(lengths, rows, np.random.default_rng([seed, epoch]), epoch * len(lengths))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200), st.integers(1, 9), st.integers(0, 3))
def test_every_passage_once_an_epoch(lengths, rows, epoch):
    order = drawn(np.array(lengths), rows, epoch)
    assert sorted(order.tolist()) == list(range(len(lengths)))
    assert order.tolist() == drawn(np.array(lengths), rows, epoch).tolist()


def test_steps_hold_little_padding_in_every_epoch_and_come_in_no_order_of_length():
    rows, lengths = 8, np.random.default_rng(1).integers(1, 1000, 1003)
    order = np.concatenate([drawn(lengths, rows, epoch) + epoch * len(lengths) for epoch in range(3)])
    steps = np.tile(lengths, 3)[order[: len(order) // rows * rows]].reshape(-1, rows)
    padded = rows * steps.max(1).sum() / steps.sum()
    at_random = np.random.default_rng(2).permutation(np.tile(lengths, 3))[: steps.size].reshape(-1, rows)
    assert padded < 1.12 < 1.5 < rows * at_random.max(1).sum() / at_random.sum()
    assert abs(np.corrcoef(np.arange(len(steps)), steps.max(1))[0, 1]) < 0.2
    first, again = drawn(lengths, rows, 0), drawn(lengths, rows, 1)
    assert (first != again).mean() > 0.9
    assert set(first[: ALIKE * rows]) != set(np.argsort(lengths)[: ALIKE * rows])  # sorted in parts, not as a whole
