"""What can be said of a summary without a reference: what of its document it names, what it repeats, what it leaves
hanging."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from longseq.tasks.document.cues import dangles
from longseq.tokens.words import terms

FEWEST = 2
"""Sentences that a word stands in to be one of the document's concepts."""
COMMON = 10
"""One sentence in so many, at most, that it stands in: more frequent words are those of any text."""


def concepts(sentences: Sequence[str]) -> dict[str, int]:
    """Words that recur in a document, without its most frequent ones, and in how many sentences.

    After Gillick and Favre (2009), "A scalable global model for summarization", with words for pairs of words and
    sentences for documents.
    """
    found = Counter(term for sentence in sentences for term in set(terms(sentence)))
    most = max(FEWEST, len(sentences) // COMMON)
    return {term: count for term, count in found.items() if FEWEST <= count <= most}


def coverage(weights: Mapping[str, int], summary: Sequence[str]) -> float:
    """Share of the `concepts` that the summary names, each with its weight; 0 where there are none."""
    named = {term for sentence in summary for term in terms(sentence)}
    total = sum(weights.values())
    return sum(weights[term] for term in named if term in weights) / total if total else 0.0


def redundancy(summary: Sequence[str]) -> float:
    """Share of the pairs of neighbouring words within sentences that stand further up in the summary too."""
    pairs = [pair for sentence in summary for pair in pairwise(terms(sentence))]
    return 1 - len(set(pairs)) / len(pairs) if pairs else 0.0


def dangling(summary: Sequence[str], document: Sequence[str] = ()) -> int:
    """Sentences that open by referring to what stands before them, and do not follow it.

    A sentence of the document is at home behind the one before it there; of one that is not, nothing shows that what
    it refers to is missing, but at the very beginning.
    """
    before = dict(zip(document[1:], document, strict=False))
    return sum(
        dangles(sentence) and (at == 0 or before.get(sentence, summary[at - 1]) != summary[at - 1])
        for at, sentence in enumerate(summary)
    )
