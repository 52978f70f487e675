"""Weights of the features of a sentence, from sentences that a greedy choice with the abstract in hand would quote.

Logistic regression whose weights may not have the wrong sign: what is held to speak for a sentence cannot come out as
speaking against it, whatever the articles at hand would have. Projected gradient descent; no random number is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from articles import Article

from longseq.metrics.oracle import oracle
from longseq.tasks.document.candidates import strictest
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.lexrank import degrees, lexrank
from longseq.tasks.document.priors import FEATURES, Outline, Weights, features
from longseq.tasks.document.ranking import content
from longseq.tasks.document.request import DocumentRequest

AGAINST = ("points", "cites", "methods")
"""Features that may only speak against a sentence; all others may only speak for it."""
SET = "dangles"
"""What is not found but set."""
RIDGE = 10.0
"""Penalty on half the sum of the squares of the weights of features of unit variance."""
STEPS, PERIOD = 2000, 0.5
DIGITS = 2
"""Decimals that are kept."""


class Example(NamedTuple):
    """An article as a fit sees it."""

    features: np.ndarray
    """(n, features) of its candidates, in the order of `FEATURES`."""
    quoted: np.ndarray
    """(n,) bool: what the greedy choice takes."""
    texts: list[str]
    """Of the candidates."""
    words: np.ndarray
    """(n,) of each."""
    centrality: np.ndarray
    """(n,) continuous LexRank of the vectors of word stems and pairs of them."""


def example(article: Article) -> Example:
    """The candidates of an article, and which of them its abstract would choose."""
    with Collection(DocumentRequest()) as collection:
        collection.add(article.record())
        words = collection.rows.column("words")
        for _, let_in in strictest(collection.tiers(), words):
            if (keep := collection.spool.distinct(let_in)).any():
                break
        with collection.spool.vectors(keep) as vectors:
            degree = degrees(vectors)
            alone = np.maximum(1.0 - 1.0 / degree, 1e-6)
            centrality = lexrank(vectors, degree)
            found = {"central": np.log(centrality * alone)}
            outline = Outline(collection.sections)
            found |= {name: x.copy() for name, x in features(collection.rows, keep, outline, content(vectors))}
        texts = []
        for row in np.flatnonzero(keep).tolist():
            at = collection.rows.row(row)
            texts.append(collection.text.read(int(at["start"]), int(at["start"] + at["length"])).text)
    rows = oracle(" ".join(article.reference), texts, words[keep], article.words)
    quoted = np.zeros(len(texts), bool)
    quoted[rows] = True
    values = np.stack([found[name] for name in FEATURES], 1).astype(float)
    return Example(values, quoted, texts, words[keep], centrality)


def fit(examples: list[Example]) -> Weights:
    """Weights under which the sentences of these articles that were quoted are most likely."""
    names = [name for name in FEATURES if name != SET]
    x = np.concatenate([one.features for one in examples])[:, [name != SET for name in FEATURES]]
    y = np.concatenate([one.quoted for one in examples]).astype(float)
    middle, scale = x.mean(0), x.std(0) + 1e-9
    x = (x - middle) / scale
    sign = np.array([-1.0 if name in AGAINST else 1.0 for name in names])
    weights, bias = np.zeros(len(names)), float(np.log(y.mean() / (1 - y.mean())))
    rate = PERIOD / (0.25 * np.linalg.eigvalsh(x.T @ x / len(x))[-1] + RIDGE / len(x))
    for _ in range(STEPS):
        wrong = 1 / (1 + np.exp(-(x @ weights + bias))) - y
        weights = weights - rate * (x.T @ wrong + RIDGE * weights) / len(x)
        weights = np.maximum(weights * sign, 0.0) * sign
        bias -= rate * wrong.mean()
    return Weights(**{name: round(float(w), DIGITS) for name, w in zip(names, weights / scale, strict=True)})
