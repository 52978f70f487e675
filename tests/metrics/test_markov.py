"""Laws of the Markov baselines: the definition, and that cutting a record changes nothing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError
from longseq.metrics.markov import AdaptiveMarkov, StaticMarkov, gc_bits

codes = st.lists(st.sampled_from([0, 1, 2, 3, 0, 1, 2, 3, 4, 14]), max_size=60).map(lambda x: np.array(x, np.uint8))
orders = st.integers(0, 4)


def reverse_complement(record):
    return np.where(record < 4, 3 - record, record)[::-1].astype(np.uint8)


def word(record, i, order):
    """The (order + 1)-mer that ends at i, or None if a letter of it is missing or unknown."""
    letters = tuple(int(c) for c in record[max(i - order, 0) : i + 1])
    return letters if len(letters) == order + 1 and max(letters) < 4 else None


def whole(pieces):
    return np.concatenate([np.zeros(0, np.float32), *pieces])


def expected(record, order, alpha, count_before):
    bits = []
    for i, code in enumerate(record):
        w = word(record, i, order)
        if code > 3:
            bits.append(math.nan)
        elif w is None:
            bits.append(2.0)
        else:
            seen = [count_before((*w[:-1], b), i) for b in range(4)]
            bits.append(-math.log2((seen[w[-1]] + alpha) / (sum(seen) + 4 * alpha)))
    return np.array(bits, np.float32)


@given(codes, codes, orders)
def test_static_is_the_count_of_both_strands(train, test, order):
    model = StaticMarkov(order, alpha=0.7)
    model.train([train])
    words = [word(s, i, order) for s in (train, reverse_complement(train)) for i in range(len(s))]
    wanted = expected(test, order, 0.7, lambda w, i: words.count(w))
    np.testing.assert_allclose(whole(model.bits([test])), wanted, rtol=1e-6)


@given(codes, orders)
def test_adaptive_counts_what_came_before_in_this_record(test, order):
    words = [word(test, i, order) for i in range(len(test))]
    wanted = expected(test, order, 0.5, lambda w, i: words[:i].count(w))
    model = AdaptiveMarkov(order)
    for _ in range(2):  # the second reading of the record remembers nothing of the first
        np.testing.assert_allclose(whole(model.bits([test])), wanted, rtol=1e-6)


@settings(max_examples=30)
@given(st.lists(codes, max_size=6), orders)
def test_cuts_change_nothing(pieces, order):
    joined = whole(pieces).astype(np.uint8)
    parts, at_once = StaticMarkov(order), StaticMarkov(order)
    parts.train(pieces)
    at_once.train([joined])
    for a, b in ((parts, at_once), (AdaptiveMarkov(order), AdaptiveMarkov(order))):
        np.testing.assert_array_equal(whole(a.bits(pieces)), whole(b.bits([joined])))


def test_more_contexts_than_sixteen_bits():
    record = np.random.default_rng(0).integers(0, 4, 4000).astype(np.uint8)
    record = np.concatenate([record, record])  # so that words of 10 come back
    bits = whole(AdaptiveMarkov(9).bits([record]))
    assert bits[:4000].mean() == pytest.approx(2, abs=0.01)
    assert np.median(bits[4009:]) == 1.0  # seen once, and in that context nothing else: (1 + 1/2) / (1 + 2)


def test_gc_alone():
    assert gc_bits(0.5) == 2.0
    assert gc_bits(0.0) == gc_bits(1.0) == 1.0
    assert gc_bits(0.36) == pytest.approx(-2 * 0.18 * math.log2(0.18) - 2 * 0.32 * math.log2(0.32))


@pytest.mark.parametrize(("make", "key"), [
    (lambda: StaticMarkov(13), "order"),
    (lambda: AdaptiveMarkov(-1), "order"),
    (lambda: AdaptiveMarkov(2, alpha=0), "alpha"),
    (lambda: gc_bits(36.0), "gc"),
])  # fmt: skip
def test_values_out_of_range(make, key):
    with pytest.raises(ConfigError, match=key):
        make()
