"""Classes of texts by their words: TF-IDF as written out, and regression on it."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from longseq.metrics.baselines import by_words, tfidf
from longseq.tokens.words import terms_and_pairs

LEARNED = [f"{'the tide rose' if i % 2 else 'the judge spoke'} {'again ' * (i % 4)}and {i % 3} more" for i in range(12)]
ASKED = ["A tide, a tide rose.", "So the judge spoke", ""]


def weights(texts, known):
    """Rows of TF-IDF with the terms and document frequencies of `known`, in plain loops."""
    found = [terms_and_pairs(text) for text in known]
    df = {term: sum(term in terms for terms in found) for term in set().union(*found)}
    names = sorted(term for term, n in df.items() if n >= 2)
    rows = np.zeros((len(texts), len(names)))
    for row, text in zip(rows, texts, strict=True):
        terms = terms_and_pairs(text)
        for i, name in enumerate(names):
            if name in terms:
                row[i] = (1 + np.log(terms.count(name))) * (1 + np.log((1 + len(known)) / (1 + df[name])))
        row /= np.linalg.norm(row) or 1
    return rows


def test_definition():
    classes = np.arange(12) % 2
    found = tfidf(iter(LEARNED), classes, iter(ASKED), terms_and_pairs, 3)
    model = LogisticRegression(C=10, max_iter=300).fit(weights(LEARNED, LEARNED), classes)
    assert np.abs(found[:, :2] - model.predict_proba(weights(ASKED, LEARNED))).max() < 1e-3
    assert (found[:, 2] == 0).all()
    told = by_words(LEARNED, classes, ASKED, np.array([1, 0, 0]), terms_and_pairs)
    assert told.accuracy >= 2 / 3


def test_texts_without_a_word_in_common_are_of_the_most_frequent_class():
    found = tfidf(["a", "b", ""] * 4, np.array([1, 1, 0] * 4), ["x", "y"], lambda text: [], 2)
    assert found.argmax(1).tolist() == [1, 1]


def test_terms_of_both_kinds_of_script():
    assert terms_and_pairs("The tide's in") == ["the", "tide's", "in", "the tide's", "tide's in"]
    assert terms_and_pairs("灯塔守 a b") == ["灯塔", "塔守", "a", "b", "a b", "灯", "塔", "守"]
