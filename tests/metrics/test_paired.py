"""Paired intervals against what is known of the draws."""

import math

import numpy as np
import pytest

from longseq.metrics.classes import auroc
from longseq.metrics.paired import difference, mean


def right(truth, found):
    return float((truth == found).mean())


def test_blocks_are_drawn_whole():
    """Two blocks, ours right in one, theirs in the other: a draw is +1, 0 or -1, and one in four is +1."""
    truth, blocks = np.ones(200, int), np.repeat([7, 9], 100)
    ours, theirs = (blocks == 7).astype(int), (blocks == 9).astype(int)
    assert difference(right, truth, ours, theirs, blocks) == (0, -1, 1)
    alone = difference(right, truth, ours, theirs, np.arange(200))
    assert alone.value == 0 and alone.high - alone.low == pytest.approx(2 * 1.96 * 2 * 0.5 / math.sqrt(200), rel=0.1)


def test_the_same_is_no_different_and_a_seed_is_kept():
    rng = np.random.default_rng(0)
    truth, scores = rng.random(300) < 0.3, rng.random(300)
    assert difference(auroc, truth, scores, scores, np.arange(300), draws=20) == (0, 0, 0)
    better = scores + truth
    found = [difference(auroc, truth, better, scores, np.arange(300), draws=50, seed=s) for s in (0, 0, 1)]
    assert found[0] == found[1] != found[2] and 0 < found[0].low < found[0].value < found[0].high
    assert found[0].value == auroc(truth, better) - auroc(truth, scores)


def test_undefined_draws_are_left_out():
    truth = np.array([True, False])
    found = difference(auroc, truth, np.array([1, 0]), np.array([0, 1]), np.arange(2), draws=40)
    assert found == (1, 1, 1)  # half of the draws hold one class only
    none = np.array([True, True])
    assert math.isnan(difference(auroc, none, none, none, np.arange(2), draws=3).low)


def test_the_interval_of_a_mean_is_that_of_its_normal_distribution():
    values = np.random.default_rng(0).normal(0.3, 2.0, 4_000)
    found = mean(values, draws=2_000)
    half = 1.96 * values.std() / 4_000**0.5
    assert found.value == values.mean()
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.1 * half)
    assert all(np.isnan(mean(np.zeros(0))))
