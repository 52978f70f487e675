"""Calibration against what is known of the data, and baselines against words counted one by one."""

import itertools
import math

import numpy as np
import pytest

from longseq.metrics import baselines, calibration
from longseq.records import reverse_complement


def logits_of(temperature, n=20000, classes=3):
    """Logits that are right when divided by `temperature`."""
    rng = np.random.default_rng(0)
    true = rng.normal(0, 1.5, (n, classes))
    p = np.exp(true) / np.exp(true).sum(1, keepdims=True)
    truth = (p.cumsum(1) < rng.random((n, 1))).sum(1).clip(max=classes - 1)
    return true * temperature, truth


@pytest.mark.parametrize("temperature", [0.4, 1.0, 3.0])
def test_the_temperature_that_was_put_in_is_found(temperature):
    logits, truth = logits_of(temperature)
    found = calibration.fit_temperature(logits, truth)
    assert found == pytest.approx(temperature, rel=0.05)
    least = calibration.nats(logits, truth, found)
    assert all(least <= calibration.nats(logits, truth, t) for t in (0.5 * found, 0.9 * found, 1.1 * found, 2 * found))
    before, after = (calibration.calibration_error(calibration.softmax(logits, t), truth) for t in (1.0, found))
    assert after < 0.02 and (temperature == 1.0 or before > 3 * after)


def test_labels_by_themselves():
    rng = np.random.default_rng(1)
    true = rng.normal(0, 2, (20000, 2))
    truth = (rng.random(true.shape) < 1 / (1 + np.exp(-true))).astype(float)
    assert calibration.fit_temperature(2 * true, truth) == pytest.approx(2, rel=0.05)
    assert np.allclose(calibration.sigmoid(true, 1.0), 1 / (1 + np.exp(-true)))


def test_the_threshold_lets_pass_what_it_says():
    logits = np.random.default_rng(2).normal(0, 1, (10000, 4)) * 300
    sums = [max(row) + math.log(sum(math.exp(x - max(row)) for x in row)) for row in logits]
    assert np.allclose(calibration.log_sum_exp(logits), sums)
    assert np.mean(np.array(sums) >= calibration.threshold(logits)) == pytest.approx(0.95, abs=1e-3)
    assert np.isfinite(calibration.softmax(logits)).all()


def test_a_fit_is_judged_by_groups_that_it_has_not_seen():
    """One group's logits are five times too sure: what is fitted to it as well does better on it than what is not."""
    logits, truth = logits_of(1.0, n=2000)
    groups = np.repeat(np.arange(5), 400)
    logits[groups == 4] *= 5
    found = calibration.judged(logits, truth, groups)
    fold = np.array([int(np.flatnonzero(np.unique(groups) == g)[0]) for g in groups])
    nats, passed = [], []
    for k in range(5):
        out = fold == k
        t = calibration.fit_temperature(logits[~out], truth[~out])
        nats += [
            -math.log(calibration.softmax(row[None], t)[0, c]) for row, c in zip(logits[out], truth[out], strict=True)
        ]
        passed += (calibration.log_sum_exp(logits[out]) >= calibration.threshold(logits[~out])).tolist()
    assert found.nats == pytest.approx(np.mean(nats)) and found.accepted == pytest.approx(np.mean(passed))
    optimistic = calibration.nats(logits, truth, calibration.fit_temperature(logits, truth))
    assert found.nats > optimistic and found.error > 0
    assert all(math.isnan(value) for value in calibration.judged(logits, truth, np.zeros(2000)))


def test_folds_divide_no_group():
    groups = np.random.default_rng(4).integers(0, 37, 500)
    fold = calibration.folds(groups, 5)
    assert all(len(set(fold[groups == g])) == 1 for g in groups)
    assert np.ptp(np.bincount(fold, minlength=5)) <= np.bincount(groups).max()
    assert set(calibration.folds(np.array([3, 3, 8]), 5)) == {0, 1}


def test_words_of_both_strands():
    letters = b"ACGTTNGCATAGGA"
    codes = np.array([b"ACGTN".index(c) for c in letters], np.uint8)
    found, at = baselines.kmer_shares(codes, 3), 0
    for k in (1, 2, 3):
        both = [s[i : i + k] for s in (letters, reverse_complement(letters)) for i in range(len(s) - k + 1)]
        both = [word for word in both if b"N" not in word]
        for word in itertools.product(b"ACGT", repeat=k):
            assert found[at] == pytest.approx(both.count(bytes(word)) / len(both)), (k, bytes(word))
            at += 1
    one, at = baselines.kmer_shares(codes, 2, both=False), 4
    for pair in itertools.product(b"ACGT", repeat=2):
        assert one[at] == pytest.approx(sum(letters[i : i + 2] == bytes(pair) for i in range(13)) / 11)
        at += 1
    assert len(found) == 84 and not baselines.kmer_shares(np.array([4, 4])).any()


def test_what_composition_tells_is_told_and_what_it_does_not_is_not():
    rng = np.random.default_rng(3)

    def record(kind):  # GC tells 0 from the others; 1 and 2 differ in pairs only
        if kind == 0:
            return rng.choice(4, 300, p=[0.1, 0.4, 0.4, 0.1])
        pairs = [[0, 0], [3, 3], [1, 2], [2, 1]] if kind == 1 else [[0, 3], [3, 0], [1, 1], [2, 2]]
        return np.array(pairs)[rng.integers(0, 4, 150)].ravel()

    classes = np.arange(120) % 3
    records = [record(kind) for kind in classes]
    found = baselines.beside(records[:90], classes[:90], records[90:], classes[90:])
    assert found["kmer_accuracy"] > 0.95 and 0.5 < found["gc_accuracy"] < 0.9
    assert set(found) == {"kmer_accuracy", "kmer_macro_f1", "gc_accuracy", "gc_macro_f1"}
