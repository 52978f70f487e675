"""Laws of the mixture of orders: the definition, records apart from one another, repeats on either strand."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError
from longseq.metrics.mixture import LONG, MixtureMarkov

codes = st.lists(st.sampled_from([0, 1, 2, 3, 0, 1, 2, 3, 4, 14]), max_size=60).map(lambda x: np.array(x, np.uint8))
orders = st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True)


def random(length, seed=0):
    return np.random.default_rng(seed).integers(0, 4, length).astype(np.uint8)


def turned(record):
    return np.where(record < 4, 3 - record, record)[::-1].astype(np.uint8)


def count(seen, record, i, order):
    """Add the word that ends at i, and its reverse complement, each as its context and the base after it."""
    letters = [int(c) for c in record[max(i - order, 0) : i + 1]]
    if len(letters) == order + 1 and max(letters) < 4:
        for word in (letters, [3 - c for c in letters[::-1]]):
            seen[order, tuple(word)] += 1


def expected(trained, record, orders, memory):
    """The definition, a base at a time."""
    seen, weights, bits = Counter(), dict.fromkeys(orders, 1.0), []
    for order in orders:
        for before in trained:
            for i in range(len(before)):
                count(seen, before, i, order)
    for i, code in enumerate(record):
        if code > 3:
            bits.append(math.nan)
            continue
        p = {}
        for order in orders:
            context = tuple(int(c) for c in record[max(i - order, 0) : i])
            here = [seen[order, (*context, b)] if len(context) == order else 0 for b in range(4)]
            alpha = 1.0 if order < LONG else 1 / 16
            p[order] = (here[code] + alpha) / (sum(here) + 4 * alpha)
        bits.append(-math.log2(sum(weights[k] * p[k] for k in orders) / sum(weights.values())))
        weights = {k: weights[k] ** memory * p[k] for k in orders}
        for order in orders:
            count(seen, record, i, order)
    return np.array(bits, np.float32)


@settings(max_examples=30, deadline=None)
@given(st.lists(codes, max_size=3), st.lists(codes, max_size=3), orders, st.sampled_from([0.0, 0.5, 0.95]))
def test_equals_the_loop_whatever_was_read_beside(trained, records, orders, memory):
    model = MixtureMarkov(orders, memory=memory)
    for record in trained:
        model.train([record])
    found = model.bits(records)
    assert len(found) == len(records)
    for record, bits in zip(records, found, strict=True):
        np.testing.assert_allclose(bits, expected(trained, record, orders, memory), rtol=1e-5)


@pytest.mark.parametrize("orders", [[2, 11, 12], [1, 15, 16, 18]])
def test_long_words_equal_the_loop(orders):
    part = random(300)
    record = np.concatenate([part, random(50, 1), turned(part), [4], part[:200]]).astype(np.uint8)
    model = MixtureMarkov(orders)
    model.train([part[100:250], part[250:]])
    wanted = expected([part[100:]], record, orders, model.memory)
    np.testing.assert_allclose(model.bits([record])[0], wanted, rtol=1e-5)


@pytest.mark.parametrize("again", [np.copy, turned])
def test_what_comes_again_on_either_strand_is_nearly_free(again):
    first = random(5000)
    bits = MixtureMarkov().bits([np.concatenate([first, again(first)])])[0]
    assert 2.0 < bits[:5000].mean() < 2.05  # chance has nothing to say
    assert bits[5000:].mean() < 0.25  # seen once: -log2 of (1 + 1/16) / (1 + 4/16) is 0.234


def test_training_is_having_read():
    first = random(5000)
    model = MixtureMarkov()
    model.train([random(100, 1)])
    model.train([first])
    assert model.bits([turned(first)])[0].mean() < 0.25


def test_a_record_shorter_than_every_context_costs_two_bits_a_base():
    bits = MixtureMarkov([4, 18]).bits([np.array([1, 2], np.uint8), np.zeros(0, np.uint8)])
    assert [list(found) for found in bits] == [[2.0, 2.0], []]


def test_an_unknown_letter_is_stepped_over():
    record = random(400)
    bits = MixtureMarkov().bits([np.concatenate([record, [4] * 7, record]).astype(np.uint8)])[0]
    assert np.isnan(bits[400:407]).all() and np.isfinite(bits[:400]).all() and np.isfinite(bits[407:]).all()
    assert bits[440:].mean() < 0.3


@pytest.mark.parametrize(("make", "key"), [
    (lambda: MixtureMarkov([]), "orders"),
    (lambda: MixtureMarkov([19]), "orders"),
    (lambda: MixtureMarkov([-1]), "orders"),
    (lambda: MixtureMarkov([2], memory=1.0), "memory"),
])  # fmt: skip
def test_values_out_of_range(make, key):
    with pytest.raises(ConfigError, match=key):
        make()
