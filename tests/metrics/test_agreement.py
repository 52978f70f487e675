import math

import numpy as np
import pytest

from longseq.metrics.agreement import cosines, neighbours_kept, spearman_of_pairs
from longseq.metrics.numbers import mean_ranks

DRAW = np.random.default_rng(3)
OURS = DRAW.normal(size=(12, 5))
THEIRS = OURS + DRAW.normal(size=(12, 5)) / 2


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def test_cosines_are_those_of_each_pair():
    assert cosines(OURS, THEIRS) == pytest.approx([cosine(a, b) for a, b in zip(OURS, THEIRS, strict=True)])


def test_a_zero_vector_is_like_nothing():
    assert cosines(np.zeros((1, 5)), THEIRS[:1]) == [0.0]


def test_ranks_of_equal_values_are_their_mean():
    values = [3.0, 1.0, 3.0, 2.0, 3.0]
    expected = [np.mean([i for i, v in enumerate(sorted(values), 1) if v == value]) for value in values]
    assert mean_ranks(np.array(values)).tolist() == expected


def test_rank_correlation_is_that_of_all_pairs():
    from scipy.stats import spearmanr

    pairs = [(i, j) for i in range(12) for j in range(i)]
    ours, theirs = ([cosine(v[i], v[j]) for i, j in pairs] for v in (OURS, THEIRS))
    assert spearman_of_pairs(OURS, THEIRS) == pytest.approx(spearmanr(ours, theirs).statistic)


def test_any_rising_map_of_similarities_keeps_ranks_and_neighbours():
    longer = OURS * DRAW.uniform(1, 9, (12, 1))  # cosines are the same
    assert spearman_of_pairs(OURS, longer) == pytest.approx(1)
    assert neighbours_kept(OURS, longer).all()


def test_a_neighbour_is_kept_where_the_nearest_other_text_is_the_same():
    def nearest(vectors, i):
        return max((j for j in range(12) if j != i), key=lambda j: cosine(vectors[i], vectors[j]))

    kept = neighbours_kept(OURS, THEIRS)
    assert kept.tolist() == [nearest(OURS, i) == nearest(THEIRS, i) for i in range(12)]
    assert 0 < kept.sum() < 12


def test_two_texts_have_one_similarity_and_no_correlation():
    assert math.isnan(spearman_of_pairs(OURS[:2], THEIRS[:2]))
