"""ROUGE: rouge-score's own figures for English, letters for scripts it does not know, and the greedy oracle."""

import itertools

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from longseq.metrics.oracle import held, oracle
from longseq.metrics.rouge import KINDS, by_words, rouge, tokenizer

REFERENCE = ["The keepers lit the lamps before dusk.", "Ships that were passing counted the flashes."]
SUMMARY = ["A ship counted flashes of the lamp.", "The keeper was lighting lamps\nbefore the dusk, which passed."]


def test_english_figures_are_those_of_the_package():
    expected = RougeScorer(list(KINDS), use_stemmer=True).score(
        "\n".join(REFERENCE), SUMMARY[0] + "\n" + SUMMARY[1].replace("\n", " ")
    )
    found = rouge(REFERENCE, SUMMARY)
    assert {kind: tuple(score) for kind, score in found.items()} == {k: tuple(v) for k, v in expected.items()}
    assert found["rougeLsum"].f > found["rougeL"].f  # the sentences stand in another order


def test_stems_are_those_of_the_package():
    text = "Relational databases' 3 conditions, generalizations; skies dying flies"
    expected = RougeScorer(["rouge1"], use_stemmer=True)._tokenizer.tokenize(text)
    assert tokenizer(text)(text) == expected


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("灯塔3号", ["灯", "塔", "3", "号"]),
        ("とうだい", ["と", "う", "だ", "い"]),
        ("Маяк погас", ["маяк", "погас"]),
        ("المنارة بعيدة", ["المنارة", "بعيدة"]),
        ("灯塔 Mark", ["mark"]),  # half of it or more in a to z: the package's words
        ("", []),
    ],
)
def test_tokens(text, tokens):
    assert tokenizer(text)(text) == tokens
    assert by_words(text) == (tokens in (["mark"], []))


def test_equal_texts_are_equal_in_any_script_and_nothing_is_nothing():
    for text in (["灯塔守望者很孤独。", "海很冷。"], ["Маяк погас."], ["प्रकाश स्तंभ दूर है।"], REFERENCE):
        assert {tuple(score) for score in rouge(text, text).values()} == {(1.0, 1.0, 1.0)}
        assert {score.f for score in rouge(text, []).values()} == {0.0}
    assert {score.f for score in rouge([], SUMMARY).values()} == {0.0}


def test_chinese_by_hand():
    found = rouge(["灯塔很远"], ["灯塔远"], ("rouge1", "rouge2", "rougeL"))
    assert found["rouge1"] == (1.0, 0.75, pytest.approx(6 / 7))
    assert found["rouge2"] == (0.5, pytest.approx(1 / 3), pytest.approx(0.4))
    assert found["rougeL"] == found["rouge1"]


def figure(reference, sentences):
    """The sum of F of ROUGE-1 and 2, pairs within sentences only."""
    tokenize, f = tokenizer(reference), 0.0
    for size in (1, 2):
        target, *parts = (
            [tuple(t[i : i + size]) for i in range(len(t) - size + 1)] for t in map(tokenize, (reference, *sentences))
        )
        found = list(itertools.chain(*parts))
        shared = sum(min(target.count(run), found.count(run)) for run in set(target))
        f += 2 * shared / (len(target) + len(found))
    return f


def greedy(reference, sentences, words, budget):
    chosen, best = [], 0.0
    while True:
        left = budget - sum(words[i] for i in chosen)
        options = [i for i in range(len(sentences)) if i not in chosen and words[i] <= left]
        scores = [figure(reference, [sentences[j] for j in [*chosen, i]]) for i in options]
        if not options or max(scores) <= best:
            return chosen
        best = max(scores)
        chosen.append(options[scores.index(best)])


def test_the_oracle_is_greedy_and_keeps_its_budget():
    draw = np.random.default_rng(3)
    vocabulary = np.array(["ash", "bay", "cape", "dune", "eddy", "fog", "gale", "haze", "isle", "jetty"])
    for _ in range(30):
        reference = " ".join(draw.choice(vocabulary, 20))
        sentences = [" ".join(draw.choice(vocabulary, n)) for n in draw.integers(1, 9, 12)]
        words = [len(sentence.split()) for sentence in sentences]
        budget = int(draw.integers(5, 30))
        found = oracle(reference, sentences, words, budget)
        assert found == greedy(reference, sentences, words, budget)
        assert sum(words[i] for i in found) <= budget


def test_the_oracle_finds_a_copied_reference_among_many_and_nothing_in_nothing():
    many = [f"a filler line of number {i} and the rest" for i in range(500)]
    many[123], many[321] = REFERENCE
    words = [len(sentence.split()) for sentence in many]
    assert sorted(oracle(" ".join(REFERENCE), many, words, 14)) == [123, 321]
    assert oracle(" ".join(REFERENCE), [], [], 14) == []
    assert oracle("", many, words, 14) == []
    assert oracle(" ".join(REFERENCE), ["nothing alike xyz"], [3], 14) == []


def test_the_share_that_a_reference_holds():
    reference = "灯塔很远，海很冷"
    found = held(reference, ["灯塔很冷", "很很很", "", "Nothing"])
    # 灯塔很冷: all letters and all pairs; of 很很很 two letters, as 很 stands twice in the reference, and no pair
    assert found.tolist() == pytest.approx([(4 / 4 + 2 * 3 / 3) / 3, (2 / 3) / 3, 0, 0])
