"""Bins keep the peaks and the mean, lengths fall into their bars, and Nx is what its definition says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.report.gathered.bins import binned, histogram, nx, skew_walk


@pytest.mark.parametrize(("windows", "most"), [(0, 5), (1, 5), (5, 5), (6, 5), (37, 5), (40, 7)])
def test_bins_tile_and_hold_the_least_the_mean_and_the_greatest(windows, most):
    rng = np.random.default_rng(windows)
    start = 100 + 10 * np.arange(windows)
    values = rng.normal(size=windows)
    values[rng.random(windows) < 0.3] = np.nan
    found = binned(start, start + 10, values, most)
    assert len(found.start) <= most
    each = -(-windows // most)
    for i in range(len(found.start)):
        part = [v for v in values[i * each : (i + 1) * each] if v == v]
        assert found.start[i] == 100 + 10 * i * each
        assert found.end[i] == 100 + 10 * min((i + 1) * each, windows)
        wanted = [min(part), sum(part) / len(part), max(part)] if part else [np.nan] * 3
        np.testing.assert_allclose([found.low[i], found.mean[i], found.high[i]], wanted, rtol=1e-6)


@given(st.lists(st.integers(0, 10_000), max_size=60))
def test_nx_is_the_shortest_of_the_longest_records_that_hold_so_much(lengths):
    percents, found = nx(np.array(lengths, np.int64), steps=40)
    assert list(percents) == ([2.5 * i for i in range(1, 41)] if any(lengths) else [])
    for percent, length in zip(percents, found, strict=True):
        held = sum(n for n in lengths if n >= length)
        longer = sum(n for n in lengths if n > length)
        assert 100 * longer < percent * sum(lengths) <= 100 * held


@given(st.lists(st.integers(0, 2_000_000), max_size=60))
def test_every_record_with_a_base_is_in_the_bar_of_its_length(lengths):
    found = histogram(np.array(lengths, np.int64))
    some = [n for n in lengths if n]
    assert found.counts.sum() == len(some) and (np.diff(found.edges) > 0).all()
    for i, (low, high) in enumerate(zip(found.edges, found.edges[1:], strict=False)):
        last = i == len(found.counts) - 1
        assert found.counts[i] == sum(low <= n < high or (last and n == high) for n in some)


def test_bars_of_few_lengths_hold_as_many_lengths_each():
    found = histogram(np.arange(100, 200))
    assert set(np.diff(found.edges)) == {3.0} and not found.logarithmic


def test_the_walk_of_the_skew_returns_to_zero_and_peaks_where_the_strands_change():
    acgt = np.tile([10, 12, 8, 10], (50, 1))
    acgt[25:] = [10, 8, 12, 10]
    for most in (100, 10):
        walk = skew_walk(acgt, most)
        assert abs(walk.sums[-1]) < 1e-9 and walk.sums.min() == -100
        assert walk.first[walk.sums.argmin() + 1] == 25
    assert not skew_walk(np.zeros((9, 4)), 100).sums.any()
