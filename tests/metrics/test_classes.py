"""Figures of classes and numbers, against hand-worked examples and definitions in a few plain lines."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.metrics import classes, numbers

TRUTH = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
FOUND = np.array([0, 0, 1, 2, 1, 1, 0, 2, 2, 2])
TABLE = classes.confusion(TRUTH, FOUND, 3)


def test_by_hand():
    assert TABLE.tolist() == [[2, 1, 1], [1, 2, 0], [0, 0, 3]]
    assert classes.accuracy(TABLE) == 0.7
    assert classes.majority(TABLE) == 0.4
    assert classes.f1(TABLE) == pytest.approx([4 / 7, 4 / 6, 6 / 7])
    assert classes.macro_f1(TABLE) == pytest.approx((4 / 7 + 4 / 6 + 6 / 7) / 3)
    # c = 7, s = 10, t = (4, 3, 3), p = (3, 3, 4): (7·10 - 33) / sqrt((100 - 34)(100 - 34))
    assert classes.matthews(TABLE) == pytest.approx(37 / 66)
    # two classes: (TP·TN - FP·FN) / sqrt(…)
    assert classes.matthews(np.array([[50, 10], [5, 35]])) == pytest.approx(1700 / math.sqrt(45 * 40 * 60 * 55))
    assert classes.exact_match([[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [0, 0]]) == pytest.approx(2 / 3)


def test_a_class_that_is_nowhere_does_not_count():
    table = classes.confusion(TRUTH, FOUND, 4)
    assert classes.macro_f1(table) == classes.macro_f1(TABLE)
    assert math.isnan(classes.f1(table)[3])


def test_saying_one_class_is_worth_nothing():
    table = classes.confusion(TRUTH, np.zeros(10, int), 3)
    assert classes.accuracy(table) == classes.majority(table) == 0.4
    assert classes.matthews(table) == 0


def test_nothing():
    empty = np.zeros((2, 2), int)
    for figure in (classes.accuracy, classes.majority, classes.macro_f1):
        assert math.isnan(figure(empty))
    assert math.isnan(classes.exact_match(np.zeros((0, 2)), np.zeros((0, 2))))
    assert math.isnan(classes.auroc([True], [1.0])) and math.isnan(classes.auprc([False], [1.0]))
    assert math.isnan(classes.one_against_rest(classes.auroc, np.ones((3, 2), bool), np.zeros((3, 2))))
    assert math.isnan(numbers.r2([2.0, 2.0], [1.0, 2.0])) and math.isnan(numbers.r2([], []))
    assert math.isnan(numbers.rmse([], [])) and math.isnan(numbers.pearson([1.0, 1.0], [1.0, 2.0]))
    assert math.isnan(numbers.bits_per_token(0.0, 0))


SCORED = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=30)


@given(SCORED)
def test_auroc_is_the_share_of_ordered_pairs(rows):
    truth, scores = (np.array(column) for column in zip(*rows, strict=True))
    pairs = [(p > n) + 0.5 * (p == n) for p, n in product(scores[truth], scores[~truth])]
    if pairs:
        assert classes.auroc(truth, scores) == pytest.approx(np.mean(pairs))
    else:
        assert math.isnan(classes.auroc(truth, scores))


@given(SCORED)
def test_auprc_is_the_sum_over_thresholds(rows):
    truth, scores = (np.array(column) for column in zip(*rows, strict=True))
    total, before = 0.0, 0.0
    for threshold in sorted(set(scores.tolist()), reverse=True):
        taken = scores >= threshold
        recall = (truth & taken).sum() / max(truth.sum(), 1)
        total += (recall - before) * (truth & taken).sum() / taken.sum()
        before = recall
    if truth.any():
        assert classes.auprc(truth, scores) == pytest.approx(total)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40), st.integers(0, 40))
def test_tables_add_up_and_matthews_is_a_correlation(rows, cut):
    truth, found = (np.array(column) for column in zip(*rows, strict=True))
    whole = classes.confusion(truth, found, 3)
    parts = classes.confusion(truth[:cut], found[:cut], 3) + classes.confusion(truth[cut:], found[cut:], 3)
    np.testing.assert_array_equal(whole, parts)
    x, y = (np.eye(3)[column] - np.eye(3)[column].mean(0) for column in (truth, found))
    spread = math.sqrt((x * x).sum() * (y * y).sum())
    assert classes.matthews(whole) == pytest.approx((x * y).sum() / spread if spread > 1e-9 else 0.0)


def test_one_against_rest():
    truth = np.eye(3, dtype=bool)[TRUTH]
    scores = np.random.default_rng(0).normal(size=(10, 3))
    for figure in (classes.auroc, classes.auprc):
        wanted = np.mean([figure(c == TRUTH, scores[:, c]) for c in range(3)])
        assert classes.one_against_rest(figure, truth, scores) == pytest.approx(wanted)


def test_numbers_by_hand():
    assert numbers.r2([1, 2, 3], [1, 2, 4]) == pytest.approx(1 - 1 / 2)
    assert numbers.r2([1, 2, 3], [2, 2, 2]) == 0
    assert numbers.rmse([0, 0], [3, 4]) == pytest.approx(math.sqrt(12.5))
    assert numbers.pearson([1, 2, 4], [2, 4, 8]) == pytest.approx(1)
    assert numbers.pearson([0, 1, 0, 1], [0, 0, 1, 1]) == 0
    assert numbers.bits_per_token(8 * math.log(2), 4) == 2
