"""Linear LexRank against the dense formula, and the vectors against TF-IDF by dictionary."""

import math
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from longseq.tasks.document import vectors as vectors_module
from longseq.tasks.document.lexrank import degrees, lexrank
from longseq.tasks.document.vectors import TermSpool


def written(n: int, seed: int = 1, vocabulary: int = 2000) -> list[list[str]]:
    """Sentences of 5 to 40 words, drawn as words are in a language."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(vocabulary)]
    weights = [1 / (i + 3) for i in range(vocabulary)]
    return [rng.choices(words, weights, k=rng.randint(5, 40)) for _ in range(n)]


def spooled(rows: list[list[str]]) -> TermSpool:
    spool = TermSpool()
    for row in rows:
        spool.add(row)
    return spool


def dense(vectors) -> np.ndarray:
    V = np.zeros((len(vectors), vectors.columns))
    for i in range(len(vectors)):
        columns, values = vectors.row(i)
        V[i, columns] = values
    return V


def tf_idf(rows: list[list[str]]) -> np.ndarray:
    counts = [Counter(row) + Counter(pairwise(row)) for row in rows]
    df = Counter(term for row in counts for term in row)
    number = {term: i for i, term in enumerate(df)}
    V = np.zeros((len(rows), len(df)))
    for i, row in enumerate(counts):
        for term, tf in row.items():
            V[i, number[term]] = (1 + math.log(tf)) * (1 + math.log(len(rows) / df[term]))
    return V / np.linalg.norm(V, axis=1, keepdims=True)


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.85, 0.95])
def test_linear_equals_dense(damping):
    with spooled(written(300)) as spool, spool.vectors(np.ones(300, bool)) as vectors:
        V = dense(vectors)
        S = V @ V.T
        degree = S.sum(axis=1)
        p = np.linalg.solve(np.eye(300) - damping * S / degree, np.full(300, (1 - damping) / 300))
        assert np.abs(degrees(vectors) - degree).max() < 1e-9
        found = lexrank(vectors, degrees(vectors), damping)
        assert np.abs(found / 300 - p).max() < 1e-9
        assert np.abs(found - 300 * p).max() < 1e-9
        assert found.sum() == pytest.approx(300)


def test_vectors_are_tf_idf_of_words_and_pairs():
    rows = written(60, vocabulary=150)
    with spooled(rows) as spool, spool.vectors(np.ones(60, bool)) as vectors:
        V, W = dense(vectors), tf_idf(rows)
        assert V.min() >= 0
        assert V.shape == W.shape  # no two of these terms share a bucket
        assert np.abs(V @ V.T - W @ W.T).max() < 1e-6
        x, y = np.arange(60.0), np.arange(float(vectors.columns))
        assert np.abs(vectors.gather(x) - V.T @ x).max() < 1e-9 * 60
        assert np.abs(vectors.spread(y) - V @ y).max() < 1e-9 * vectors.columns


def test_rows_left_out_count_for_nothing():
    rows = written(80)
    keep = np.arange(80) % 3 > 0
    with spooled(rows) as spool, spool.vectors(keep) as some:
        with spooled([row for row, kept in zip(rows, keep, strict=True) if kept]) as other:
            with other.vectors(np.ones(len(other), bool)) as alone:
                assert np.array_equal(dense(some), dense(alone))


def test_neither_blocks_nor_the_disk_change_a_bit(monkeypatch):
    rows = written(400)

    def scores():
        with spooled(rows) as spool, spool.vectors(np.ones(400, bool)) as vectors:
            return lexrank(vectors, degrees(vectors))

    whole = scores()
    monkeypatch.setattr(vectors_module, "BLOCK_WORDS", 500)
    monkeypatch.setattr("longseq.tokens.scratch.IN_MEMORY", 1000)
    assert np.array_equal(scores(), whole)


def test_the_first_of_equal_rows_is_kept_and_rows_without_terms_are_not():
    with spooled([["a"], ["b", "c"], [], ["a"], ["c", "b"], ["b", "c"], ["bc"]]) as spool:
        assert spool.distinct(np.ones(7, bool)).tolist() == [True, True, False, False, True, False, True]
        later = np.array([False, True, True, True, True, True, True])
        assert spool.distinct(later).tolist() == [False, True, False, True, True, False, True]


def test_terms_are_hashed_alike_in_every_process():
    """Python's own `hash` of a string is salted; these places must not move, or results would."""
    with spooled([["tide", "灯塔"]]) as spool, spool.vectors(np.ones(1, bool)):
        block = next(spool._file.blocks())
        assert block.columns.tolist() == EXPECTED


EXPECTED = [283186, 594049, 1266578]


def test_nothing_to_rank():
    with spooled([[]]) as spool, spool.vectors(np.zeros(1, bool)) as vectors:
        assert lexrank(vectors, degrees(vectors)).tolist() == []
