"""How well each sentence answers a question, with what the document itself says belongs to the question's words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from longseq.tasks.document.lexrank import lexrank
from longseq.tasks.document.vectors import Vectors
from longseq.tokens.stems import stem
from longseq.tokens.words import terms

FEEDBACK = 10
"""Best sentences whose other words are asked for too."""
ADDED = 0.3
"""Weight of these beside the question's own."""
WALK = 0.5
"""Probability of going on from a sentence to a similar one rather than back to the answers."""


def folded(text: str) -> str:
    """Full-width and compatibility forms as plain ones."""
    return unicodedata.normalize("NFKC", text)


def index_terms(text: str, fold: bool = False) -> list[str]:
    """Terms by which sentences are compared: stems of words; of scripts without spaces, pairs of letters.

    `fold` where there is a question: both it and the text in one form.
    """
    return [stem(term) for term in terms(folded(text) if fold else text)]


def relevance(
    vectors: Vectors, degree: np.ndarray, queries: Sequence[str]
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """((n,) float64 from 0 to 1: the best answer to each question has 1, what answers none 0; questions without one).

    None instead of zeros where none is answered.

    A question is a vector of rarities, ln(n / df), so that words that every sentence has do not count. The best
    sentences lend it their rare words (pseudo-relevance feedback, Rocchio 1971), and a random walk that starts anew at
    the answers lets what resembles them share in their score (Otterbacher, Erkan and Radev 2005, "Using random walks
    for question-focused sentence retrieval").

    Args:
        vectors: (n, m) unit rows, with their terms.
        degree: (n,) their `degrees`.
        queries: As the user wrote them.
    """
    found, best = vectors.terms, np.zeros(len(vectors))
    assert found is not None  # of the whole
    single = found.single()
    unanswered: list[str] = []
    for query in queries:
        asked = np.zeros(vectors.columns)
        columns = found.columns(index_terms(query, fold=True))
        asked[columns] = found.rarity[columns]
        score = vectors.spread(asked)
        if not score.max(initial=0.0):
            unanswered.append(query)
            continue
        top = np.argsort(-score, kind="stable")[:FEEDBACK]
        lent = np.zeros(len(vectors))
        lent[top] = score[top] / score[top].sum()
        more = np.where(single, vectors.gather(lent), 0.0)
        more[columns] = 0.0
        if more.any():
            asked += ADDED * more * (np.sqrt(asked @ asked) / np.sqrt(more @ more))
        score = vectors.spread(asked)
        restart = score * score
        walked = lexrank(vectors, degree, WALK, restart / restart.sum())
        best = np.maximum(best, walked / walked.max())
    return best if best.any() else None, tuple(unanswered)
