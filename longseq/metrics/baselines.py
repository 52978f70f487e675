"""What is told without a model, by logistic regression: of DNA on k-mers, and on the share of G and C alone; of
documents on TF-IDF.

The door to scikit-learn, which is imported when a baseline is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from longseq.metrics.classes import accuracy, confusion, macro_f1

K = 4
"""Longest word counted: 340 shares of words of 1 to 4 bases."""


class Told(NamedTuple):
    """How well classes were told."""

    accuracy: float
    macro_f1: float


def kmer_shares(codes: np.ndarray, k: int = K, *, both: bool = True) -> np.ndarray:
    """Shares of each word among those of its length, 1 to k, of both strands or of the one given: (4 + … + 4^k,)
    float64.

    codes (T,): 0-3 are A, C, G, T, in words with anything else nothing is counted; zeros where a length has no word.
    """
    codes, parts = np.asarray(codes).astype(np.int64), []
    words, known = np.zeros(len(codes), np.int64), np.ones(len(codes), bool)
    for length in range(1, k + 1):
        tail = codes[length - 1 :]
        words, known = words[: len(tail)] * 4 + (tail & 3), known[: len(tail)] & (tail < 4)
        counts = np.bincount(words[known], minlength=4**length).reshape([4] * length)
        # The complement of code c is 3 - c, so the other strand is all axes turned round and their order reversed.
        counts = (counts + np.flip(counts).transpose() if both else counts).ravel()
        parts.append(counts / max(counts.sum(), 1))
    return np.concatenate(parts)


def gc_share(shares: np.ndarray) -> np.ndarray:
    """(N, 1) share of G and C of rows of `kmer_shares` (N, …)."""
    return shares[:, 1:3].sum(1, keepdims=True)


def logistic(
    learned: np.ndarray, classes: np.ndarray, asked: np.ndarray, count: int, *, penalty: float = 1.0
) -> np.ndarray:
    """(M, count) probabilities of the classes of `asked` (M, F), by multinomial logistic regression with an L2 penalty
    on features (N, F) scaled to unit variance, of which `classes` (N,) are known: 0 to count - 1, two at least."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = learned.mean(0), learned.std(0)
    spread = np.where(spread > 0, spread, 1.0)
    model = LogisticRegression(C=1 / penalty, max_iter=300).fit((learned - mean) / spread, classes)
    found = np.zeros((len(asked), count))
    found[:, model.classes_] = model.predict_proba((asked - mean) / spread)
    return found


def told(learned: np.ndarray, classes: np.ndarray, asked: np.ndarray, truth: np.ndarray, count: int) -> Told:
    """How well logistic regression on features tells `truth` (M,) of `count` classes."""
    table = confusion(truth, logistic(learned, classes, asked, count).argmax(1), count)
    return Told(accuracy(table), macro_f1(table))


def beside(learned: Sequence[np.ndarray], classes: np.ndarray, asked: Sequence[np.ndarray], truth: np.ndarray) -> dict:
    """Figures of k-mers and of GC alone on records as codes; `classes` (N,) and `truth` (M,) are whole numbers."""
    x, y = (np.stack([kmer_shares(codes) for codes in part]) for part in (learned, asked))
    count = int(max(classes.max(), truth.max())) + 1
    kmers, gc = told(x, classes, y, truth, count), told(gc_share(x), classes, gc_share(y), truth, count)
    found = {f"kmer_{name}": value for name, value in kmers._asdict().items()}
    return found | {f"gc_{name}": value for name, value in gc._asdict().items()}


def by_words(
    learned: Iterable[str],
    classes: np.ndarray,
    asked: Iterable[str],
    truth: np.ndarray,
    terms: Callable[[str], list[str]],
) -> Told:
    """How well logistic regression on the TF-IDF of texts' `terms` tells classes: (1 + ln tf) (1 + ln((1 + n) / (1 +
    df))), rows of length 1, terms of two texts at least. `classes` (N,) and `truth` (M,) are whole numbers."""
    count = int(max(classes.max(), truth.max())) + 1
    table = confusion(truth, tfidf(learned, classes, asked, terms, count).argmax(1), count)
    return Told(accuracy(table), macro_f1(table))


def tfidf(
    learned: Iterable[str],
    classes: np.ndarray,
    asked: Iterable[str],
    terms: Callable[[str], list[str]],
    count: int,
    *,
    penalty: float = 0.1,
) -> np.ndarray:
    """(M, count) probabilities of the classes of the texts asked; see `by_words`."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    few = 2 if len(classes) > 9 else 1  # among a handful of texts hardly a term is in two
    vectors = TfidfVectorizer(analyzer=terms, sublinear_tf=True, min_df=few, dtype=np.float32)
    model = LogisticRegression(C=1 / penalty, max_iter=300)
    try:
        model.fit(vectors.fit_transform(learned), classes)
    except ValueError:  # no term is in two texts
        found = np.zeros((sum(1 for _ in asked), count))
        found[:, np.bincount(classes).argmax()] = 1
        return found
    found = model.predict_proba(vectors.transform(asked))
    told = np.zeros((len(found), count))
    told[:, model.classes_] = found
    return told
