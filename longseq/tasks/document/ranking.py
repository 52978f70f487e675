"""How much each sentence is worth: its centrality among the others, its prior, and how well it answers a question."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from longseq.tasks.document.lexrank import degrees, lexrank
from longseq.tasks.document.priors import Outline, prior
from longseq.tasks.document.query import relevance
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.rows import Rows
from longseq.tasks.document.select import COST
from longseq.tasks.document.vectors import Vectors

BESIDE = 0.1
"""Share of all else in the worth of a sentence where a question is asked."""


@dataclass(frozen=True)
class Judged:
    """What does not depend on which part of a document is summarized."""

    prior: np.ndarray
    """(n,) float32 on the scale of logarithms."""
    relevance: np.ndarray | None
    """(n,) from 0 to 1; None where nothing was asked, or nothing answers it."""
    whole: bool = False
    """The prior is all there is to say: centrality is in it."""

    def part(self, first: int, last: int) -> Judged:
        """Of the rows `[first, last)`."""
        asked = None if self.relevance is None else self.relevance[first:last]
        return replace(self, prior=self.prior[first:last], relevance=asked)


def content(vectors: Vectors) -> np.ndarray:
    """(n,) float32: mean weight of each row's single terms, df ln(n / df), 1 for the weightiest of all."""
    assert vectors.terms is not None
    single = vectors.terms.single()
    weight = vectors.terms.frequency * vectors.terms.rarity
    top = weight[single].max(initial=0.0)
    return vectors.mean(weight / top if top else weight, single).astype(np.float32)


def judge(vectors: Vectors, rows: Rows, keep: np.ndarray, outline: Outline, request: DocumentRequest) -> Judged:
    """Of the rows in `keep` ((rows,) bool), whose `vectors` these are."""
    before = prior(request.weights, rows, keep, outline, content(vectors))
    return Judged(before, relevance(vectors, request.queries) if request.queries else None)


def rank(
    vectors: Vectors, judged: Judged, words: np.ndarray, request: DocumentRequest
) -> tuple[np.ndarray, np.ndarray]:
    """((n,) float32 centrality, 1.0 on average; (n,) float32 worth, at most 1.0 before length counts) among these rows.

    Args:
        vectors: (n, m) unit rows.
        judged: What is known of them already.
        words: (n,) of each sentence.
        request: Weights and damping.
    """
    degree = degrees(vectors)
    score = lexrank(vectors, degree, request.damping)
    central = 0.0 if judged.whole else request.weights.central
    worth = np.log(score)
    if judged.relevance is None and central:  # how much is with others: nothing of what stands alone
        np.divide(-1.0, degree, out=degree)
        degree += 1.0
        with np.errstate(divide="ignore"):
            worth += np.log(np.maximum(degree, 0.0, out=degree), out=degree)
    worth *= central
    worth += judged.prior
    if judged.relevance is not None:
        worth *= BESIDE
        with np.errstate(divide="ignore"):
            worth += np.log(judged.relevance)
    del degree
    top = worth.max(initial=-np.inf)
    if np.isfinite(top):
        worth -= top
    np.exp(worth, out=worth)
    worth /= np.maximum(words, 1, dtype=np.float32) ** np.float32(COST)
    return score.astype(np.float32), worth.astype(np.float32)
