"""Laws of called intervals: the same however the probabilities come, and none of background or N."""

import numpy as np
import pytest

from longseq.errors import ConfigError
from longseq.tasks.annotate.calls import Caller, stranded


def drawn(length=400, classes=3):
    rng = np.random.default_rng(0)
    found = np.repeat(rng.random((length // 4, classes)), 4, 0).astype(np.float32)
    return found / found.sum(1, keepdims=True), rng.random(length) > 0.05


def called(probabilities, known, cut, **options):
    caller = Caller(**options)
    parts = range(0, len(known), cut)
    found = [call for i in parts for call in caller.add(probabilities[i : i + cut], known[i : i + cut])]
    return [*found, *caller.finish()]


def walked(probabilities, known, shortest, threshold):
    """Base by base."""
    labels = [int(row.argmax()) if k else 0 for row, k in zip(probabilities, known, strict=True)]
    found, start = [], 0
    for i in range(1, len(labels) + 1):
        if i == len(labels) or labels[i] != labels[start]:
            mean = probabilities[start:i, labels[start]].astype(float).mean()
            if labels[start] and i - start >= shortest and mean >= threshold:
                found.append((start, i, labels[start], mean))
            start = i
    return found


@pytest.mark.parametrize(("shortest", "threshold"), [(1, 0.0), (5, 0.0), (1, 0.5), (9, 0.45)])
def test_cuts_change_nothing(shortest, threshold):
    probabilities, known = drawn()
    wanted = walked(probabilities, known, shortest, threshold)
    assert len(wanted) > 1
    for cut in (400, 64, 7, 1):
        found = called(probabilities, known, cut, shortest=shortest, threshold=threshold)
        assert [call[:3] for call in found] == [w[:3] for w in wanted]
        assert np.allclose([call.probability for call in found], [w[3] for w in wanted], rtol=1e-12)


def test_nothing_comes_of_nothing():
    probabilities, known = drawn()
    assert called(probabilities, np.zeros_like(known), 50) == called(probabilities[:0], known[:0], 1) == []
    with pytest.raises(ConfigError, match="min-length"):
        Caller(shortest=0)
    with pytest.raises(ConfigError, match="threshold"):
        Caller(threshold=1.5)


def test_a_strand_is_one_where_its_other_is_a_class():
    assert stranded(["none", "exon+", "exon-", "Fe+", "-"]) == [
        ("none", "."), ("exon", "+"), ("exon", "-"), ("Fe+", "."), ("-", "."),
    ]  # fmt: skip


@pytest.mark.parametrize(("shortest", "threshold"), [(1, 0.0), (9, 0.45)])
def test_on_a_circle_the_origin_is_a_place_like_others(shortest, threshold):
    """The calls of the record turned by some bases are the calls turned; from there the walk sees no origin."""
    probabilities, known = drawn()
    first = max(walked(probabilities, known, shortest, threshold), key=lambda call: call[1] - call[0])[0]
    plain = walked(np.roll(probabilities, -first, 0), np.roll(known, -first), shortest, threshold)
    wanted = sorted(((a + first) % 400, (a + first) % 400 + b - a, label) for a, b, label, _ in plain)
    crossing = 0
    for turn in (0, first + 2, first + 5):
        rolled, there = np.roll(probabilities, -turn, 0), np.roll(known, -turn)
        for cut in (400, 7):
            found = called(rolled, there, cut, shortest=shortest, threshold=threshold, circular=True)
            assert found == sorted(found)
            crossing += sum(call.end > 400 for call in found)
            turned = sorted(((c.start + turn) % 400, (c.start + turn) % 400 + c.end - c.start, c.label) for c in found)
            assert turned == wanted
    assert crossing


def test_a_circle_of_one_class_is_one_interval():
    probabilities = np.tile(np.float32([0.1, 0.9]), (50, 1))
    (call,) = called(probabilities, np.ones(50, bool), 20, circular=True)
    assert call[:3] == (0, 50, 1)
