"""How well each sentence answers a question, with what the document itself says belongs to the question's words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from longseq.tasks.document.vectors import TermSpool, Vectors, buckets
from longseq.tokens.han import simplified
from longseq.tokens.stems import stem
from longseq.tokens.words import UNSPACED, terms

NEIGHBOURS = 20
"""Terms that may stand for one of the question's."""
KIN = 0.05
"""Cosine below which two terms are no kin."""
COMMON = 0.2
"""A word of the question whose rarity is a smaller share of the rarest one's says nothing."""
LENGTH = 0.3
"""How much a longer sentence must hold more, 0 to 1, as b of Okapi BM25."""


def folded(text: str) -> str:
    """Full-width and compatibility forms as plain ones, traditional Chinese as simplified."""
    return simplified(unicodedata.normalize("NFKC", text))


def index_terms(text: str, fold: bool = False, letters: frozenset[str] = frozenset()) -> list[str]:
    """Terms by which sentences are compared: stems of words; of scripts without spaces, pairs of letters.

    `fold` where there is a question: both it and the text in one form. Of `letters` each is a term, too.
    """
    text = folded(text) if fold else text
    found = [stem(term) for term in terms(text)]
    return found + [letter for letter in text if letter in letters] if letters else found


def lone_letters(queries: Sequence[str]) -> frozenset[str]:
    """Letters of scripts without spaces that a question asks for alone: of a text they are no terms by themselves."""
    return frozenset(term for query in queries for term in index_terms(query, fold=True) if UNSPACED.fullmatch(term))


def unanswered(spool: TermSpool, keep: np.ndarray, queries: Sequence[str], known: np.ndarray) -> tuple[str, ...]:
    """The questions of which no word that says something stands in any row of `keep` ((rows,) bool).

    What a word says is told by its rarity among the rows of `known` ((rows,) bool), `keep` among them.
    """
    counts, frequency = spool.frequency(keep), spool.frequency(known)
    silent = []
    for query in queries:
        found = buckets(index_terms(query, fold=True))
        found = found[frequency[found] > 0]
        rarity = np.log(known.sum() / frequency[found])
        if not counts[found[rarity >= COMMON * rarity.max(initial=0.0)]].any():
            silent.append(query)
    return tuple(silent)


def telling(vectors: Vectors, queries: Sequence[str]) -> frozenset[str]:
    """The terms of the questions that say something among these sentences: as rare as `relevance` wants them."""
    assert vectors.terms is not None
    said: set[str] = set()
    for query in queries:
        words = list(dict.fromkeys(index_terms(query, fold=True)))
        number = vectors.terms.numbers(words)
        rarity = {word: vectors.terms.rarity[at] for word, at in zip(words, number, strict=True) if at >= 0}
        least = COMMON * max(rarity.values(), default=0.0)
        said |= {word for word, value in rarity.items() if value > 0 and value >= least}
    return frozenset(said)


def relevance(vectors: Vectors, queries: Sequence[str]) -> np.ndarray | None:
    """(n,) float64 from 0 to 1: the best answer to each question has 1, what answers none 0.

    None instead of zeros where none is answered. Each word of a question counts by its rarity, ln(n / df), as far as
    the sentence holds it, or else the term nearest to it: near are terms that stand in the same sentences, by the
    cosine of their columns (Qiu and Frei 1993, "Concept based query expansion"). A sentence that holds kin of all words
    so comes before one that holds one word itself.

    Args:
        vectors: (n, m) unit rows, with their terms.
        queries: As the user wrote them.
    """
    found, best = vectors.terms, np.zeros(len(vectors))
    assert found is not None  # of the whole
    norms = np.sqrt(vectors.squares())
    lengths = vectors.lengths()
    room = 1.0 - LENGTH + LENGTH * lengths / max(lengths.mean(), 1.0) if len(lengths) else lengths
    for query in queries:
        columns = found.columns(index_terms(query, fold=True))
        rarity = found.rarity[columns]
        score = np.zeros(len(vectors))
        for column, weight in zip(columns.tolist(), rarity.tolist(), strict=True):
            if weight > 0 and weight >= COMMON * rarity.max():
                score += weight * vectors.most(_kin(vectors, column, norms))
        score /= room
        if score.any():
            best = np.maximum(best, score / score.max())
    return best if best.any() else None


def _kin(vectors: Vectors, column: int, norms: np.ndarray) -> np.ndarray:
    """(m,) float64: the cosine of each column with this one, 1 for itself; 0 but for its nearest single terms."""
    assert vectors.terms is not None
    one = np.zeros(vectors.columns)
    one[column] = 1.0
    near = vectors.gather(vectors.spread(one))
    near /= norms * norms[column]
    near[~vectors.terms.single()] = 0.0
    near[column] = 0.0
    if len(near) > NEIGHBOURS:
        near[near < np.partition(near, -NEIGHBOURS)[-NEIGHBOURS]] = 0.0
    near[near < KIN] = 0.0
    near[column] = 1.0
    return near
