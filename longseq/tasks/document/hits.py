"""The sentences that answer a question best, and where in them its words stand."""

from __future__ import annotations

import re
from collections.abc import Set

import numpy as np

from longseq.tasks.document.query import index_terms
from longseq.tokens.words import UNSPACED, runs

HITS = 12
"""Answers that are shown at most."""
POOR = 0.3
"""Relevance below which a sentence is no answer: it holds a word of many, or but a neighbour of one."""
_MARKED = re.compile(b"\1+")


def best_hits(relevance: np.ndarray | None) -> list[tuple[int, float]]:
    """(number, relevance) of the best answers, best first; `relevance` is (n,) from 0 to 1, None where nothing was
    asked."""
    if relevance is None:
        return []
    best = np.argsort(-relevance, kind="stable")[:HITS].tolist()
    return [(row, round(float(relevance[row]), 4)) for row in best if relevance[row] >= POOR]


def places_of(wanted: Set[str], text: str) -> tuple[tuple[int, int], ...]:
    """Where terms of a question (`index_terms`) stand in a text, in whatever form: `[start, end)`, in order."""
    marks = bytearray(len(text))
    for start, end in runs(text):
        if not UNSPACED.match(text[start]):
            pieces = [(start, end)]
        else:
            pieces = [(at, min(at + length, end)) for at in range(start, end) for length in (1, 2)]
        for first, last in pieces:
            if not wanted.isdisjoint(index_terms(text[first:last], fold=True)):
                marks[first:last] = b"\1" * (last - first)
    return tuple(found.span() for found in _MARKED.finditer(marks))
