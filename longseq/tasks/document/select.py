"""Which sentences make the summary: a budget that is never exceeded, and no saying the same thing twice."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from longseq.config import require
from longseq.tasks.document.vectors import Vectors

COST = 0.2
"""Exponent of a sentence's words: a longer one, central for its length alone, must be worth its room."""
REPEATED = 0.25
"""A sentence of whose terms a smaller share is new repeats what is chosen, but for a number perhaps: it is left out."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much a summary may hold."""

    amount: float = 10
    """Sentences or words at most, or the share of the document's words at most."""
    unit: Literal["sentences", "words", "ratio"] = "sentences"
    """What `amount` counts. A CJK letter is a word."""

    def __post_init__(self):
        require(self.unit in ("sentences", "words", "ratio"), "budget.unit", self.unit, "sentences, words or ratio")
        if self.unit == "ratio":
            require(0 < self.amount <= 1, "budget.amount", self.amount, "a ratio above 0, at most 1")
        else:
            whole = self.amount >= 1 and self.amount == int(self.amount)
            require(whole, "budget.amount", self.amount, f"a whole number of {self.unit}, at least 1")

    def describe(self) -> str:
        """`10 sentences`, `200 words`, `0.1 of the words`."""
        if self.unit == "ratio":
            return f"{self.amount:g} of the words"
        return f"{int(self.amount)} {self.unit if self.amount != 1 else self.unit[:-1]}"

    def limit(self, words: int) -> int:
        """Sentences or words that a document of so many words may give."""
        return int(self.amount * words) if self.unit == "ratio" else int(self.amount)


def select(
    vectors: Vectors, scores: np.ndarray, words: Sequence[int] | np.ndarray, budget: Budget, total: int
) -> list[int]:
    """Rows of `vectors` that make the summary, in the order in which they were chosen.

    Greedy: the next sentence has the highest `score * novelty / words ** COST` of those that still fit. Novelty is the
    share of its vector's squared weights on terms that no chosen sentence holds. It only falls as sentences are chosen,
    so a gain that is out of date is a bound, and most are never brought up to date (Minoux 1978). The exponent is that
    of Lin and Bilmes (2010), "Multi-document summarization via budgeted maximization of submodular functions". Ties go
    to the lower row.

    Args:
        vectors: (n, m) unit rows, in document order.
        scores: (n,) relevance, not negative.
        words: (n,) words of each sentence.
        budget: what may be spent.
        total: words of the document, for a ratio.
    """
    left = budget.limit(total)
    lengths = np.maximum(np.asarray(words, np.int64), 1)
    costs = np.ones_like(lengths) if budget.unit == "sentences" else lengths
    worth = scores / lengths**COST
    said = np.zeros(vectors.columns, bool)
    chosen: list[int] = []
    heap = [(-gain, row, 0) for row, gain in enumerate(worth.tolist())]  # the last: how many were chosen by then
    heapq.heapify(heap)
    while heap and left > 0:
        _, row, known = heapq.heappop(heap)
        if costs[row] > left:
            continue
        columns, values = vectors.row(row)
        if known < len(chosen):
            new = ~said[columns]
            if new.mean() >= REPEATED:
                weights = values.astype(np.float64) ** 2
                novelty = float(weights[new].sum() / weights.sum())
                heapq.heappush(heap, (-float(worth[row]) * novelty, row, len(chosen)))
            continue
        chosen.append(row)
        left -= int(costs[row])
        said[columns] = True
    return chosen
