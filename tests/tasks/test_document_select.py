"""Selection: lazy equals plain, the budget holds, nothing is said twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError
from longseq.tasks.document.select import COST, REPEATED, Budget, falling, select
from longseq.tasks.document.vectors import TermSpool

SENTENCES = st.lists(st.lists(st.sampled_from("abcdefghijkl"), min_size=1, max_size=12), min_size=1, max_size=25)
BUDGETS = st.one_of(
    st.builds(Budget, amount=st.integers(1, 30), unit=st.just("sentences")),
    st.builds(Budget, amount=st.integers(1, 200), unit=st.just("words")),
    st.builds(Budget, amount=st.integers(1, 900), unit=st.just("characters")),
    st.builds(Budget, amount=st.floats(0.001, 1), unit=st.just("ratio")),
)


def chosen_by(rows, scores, budget, choose) -> list[int]:
    words = [len(row) for row in rows]
    with TermSpool() as spool:
        for row in rows:
            spool.add(row)
        with spool.vectors(np.ones(len(rows), bool)) as vectors:
            lengths = np.array(words)
            costs = budget.costs(lengths, 6 * lengths)
            return choose(vectors, np.array(scores) / lengths**COST, costs, budget.limit(sum(words)))


def plain(vectors, worth, costs, limit) -> list[int]:
    """Every gain anew before every choice."""
    left, said, chosen = limit, set(), []
    while left > 0:
        best = (-1.0, 0)
        for i in range(len(vectors)):
            columns, values = vectors.row(i)
            squares = values.astype(float) ** 2
            new = np.array([c not in said for c in columns])
            novelty = squares[new].sum() / squares.sum() if chosen else 1.0
            if costs[i] <= left and i not in chosen and new.mean() >= REPEATED:
                best = max(best, (worth[i] * novelty, -i))
        if best[0] < 0:
            break
        chosen.append(-best[1])
        said |= set(vectors.row(chosen[-1])[0].tolist())
        left -= costs[chosen[-1]]
    return chosen


@settings(deadline=None, max_examples=100)
@given(SENTENCES, BUDGETS, st.randoms(use_true_random=False))
def test_lazy_equals_plain_and_the_budget_holds(rows, budget, rng):
    scores = [rng.choice([0.0, 0.5, 1.0, 1.5]) for _ in rows]  # ties, too
    chosen = chosen_by(rows, scores, budget, select)
    assert chosen == chosen_by(rows, scores, budget, plain)
    assert len(set(chosen)) == len(chosen)
    words = [len(row) for row in rows]
    if budget.unit == "sentences":
        assert len(chosen) <= budget.amount
    elif budget.unit == "words":
        assert sum(words[i] for i in chosen) <= budget.amount
    elif budget.unit == "characters":
        assert sum(6 * words[i] for i in chosen) <= budget.amount
    else:
        assert sum(words[i] for i in chosen) <= budget.amount * sum(words)


def test_what_is_said_is_not_said_again():
    rows = [list("abcdef"), list("abcdefg"), list("hijk")]
    assert chosen_by(rows, [3.0, 2.9, 0.1], Budget(amount=3), select) == [0, 2]


def test_a_sentence_too_long_for_the_rest_leaves_room_for_shorter_ones():
    rows = [["a"] * 6, ["b"] * 6, ["c"] * 4]
    assert chosen_by(rows, [3.0, 2.0, 1.0], Budget(amount=10, unit="words"), select) == [0, 2]


@pytest.mark.parametrize(
    ("unit", "amount"),
    [("sentences", 0), ("sentences", 1.5), ("words", -3), ("ratio", 0), ("ratio", 1.01), ("pages", 1)],
)
def test_wrong_budgets_say_what_is_wrong(unit, amount):
    with pytest.raises(ConfigError, match=r"budget\.(unit|amount): expected"):
        Budget(unit=unit, amount=amount)


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (Budget(), "10 sentences"),
        (Budget(amount=1), "1 sentence"),
        (Budget(amount=200, unit="words"), "200 words"),
        (Budget(amount=500, unit="characters"), "500 characters"),
        (Budget(amount=0.1, unit="ratio"), "0.1 of the words"),
    ],
)
def test_budgets_describe_themselves(budget, text):
    assert budget.describe() == text


@given(st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.5, 0.9, 1.0]), max_size=60), st.integers(1, 70))
def test_rows_fall_in_bands_of_any_size(worth, band):
    found = list(falling(np.array(worth, np.float32), band))
    assert found == sorted(range(len(worth)), key=lambda row: (-worth[row], row))
