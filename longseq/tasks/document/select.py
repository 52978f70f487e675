"""Which sentences make the summary: a budget that is never exceeded, and no saying the same thing twice."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from longseq.config import require
from longseq.errors import UsageError
from longseq.tasks.document.vectors import Vectors

COST = 0.2
"""Exponent of a sentence's words: a longer one, central for its length alone, must be worth its room."""
BAND = 1 << 14
"""Rows that are put in order at once."""
REPEATED = 0.25
"""A sentence of whose terms a smaller share is new repeats what is chosen, but for a number perhaps: it is left out."""

UNITS = ("sentences", "words", "characters", "ratio")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much a summary may hold."""

    amount: float = 10
    """Sentences, words or characters at most, or the share of the document's words at most."""
    unit: Literal["sentences", "words", "characters", "ratio"] = "sentences"
    """What `amount` counts. A CJK letter is a word; characters are code points of the sentences chosen."""

    def __post_init__(self):
        require(self.unit in UNITS, "budget.unit", self.unit, "sentences, words, characters or ratio")
        if self.unit == "ratio":
            require(0 < self.amount <= 1, "budget.amount", self.amount, "a ratio above 0, at most 1")
        else:
            whole = self.amount >= 1 and self.amount == int(self.amount)
            require(whole, "budget.amount", self.amount, f"a whole number of {self.unit}, at least 1")

    @classmethod
    def of(cls, amounts: Mapping[str, float | None]) -> Budget:
        """The amount by unit that is not None; where all are, what it is unless told otherwise.

        Raises:
            UsageError: several.
        """
        given = {unit: amount for unit, amount in amounts.items() if amount is not None}
        if len(given) > 1:
            several = " and ".join(f"--{unit}" for unit in given)
            raise UsageError(f"{several} exclude each other", remedy="give one of them")
        return next((cls(amount=amount, unit=unit) for unit, amount in given.items()), cls())  # type: ignore[arg-type]

    def describe(self) -> str:
        """`10 sentences`, `200 words`, `0.1 of the words`."""
        if self.unit == "ratio":
            return f"{self.amount:g} of the words"
        return f"{int(self.amount)} {self.unit if self.amount != 1 else self.unit[:-1]}"

    def limit(self, words: int) -> int:
        """Sentences, words or characters that a document of so many words may give."""
        return int(self.amount * words) if self.unit == "ratio" else int(self.amount)

    def costs(self, words: np.ndarray, characters: np.ndarray) -> np.ndarray:
        """(n,) what each sentence takes of the limit; every one takes something."""
        if self.unit == "sentences":
            return np.broadcast_to(np.int32(1), len(words))
        return np.maximum(characters if self.unit == "characters" else words, 1)


def select(vectors: Vectors, worth: np.ndarray, costs: np.ndarray, limit: int, wanted: Sequence[int] = ()) -> list[int]:
    """Rows of `vectors` that make the summary, in the order in which they were chosen.

    Greedy: the next sentence has the highest `worth * novelty` of those that still fit. Novelty is the share of its
    vector's squared weights on terms that no chosen sentence holds. It only falls as sentences are chosen, so a gain
    that is out of date is a bound, and most are never brought up to date (Minoux 1978, as in Lin and Bilmes 2010,
    "Multi-document summarization via budgeted maximization of submodular functions"). Ties go to the lower row.

    Args:
        vectors: (n, m) unit rows, in document order.
        worth: (n,) not negative.
        costs: (n,) of each sentence, at least 1.
        limit: What they may cost in all.
        wanted: Rows that are taken before all others, in this order, as far as they fit, repetitions among them.
    """
    left, said = limit, np.zeros(vectors.columns, bool)
    chosen: list[int] = []

    def take(row: int, columns: np.ndarray) -> int:
        chosen.append(row)
        said[columns] = True
        return left - int(costs[row])

    for row in wanted:
        if costs[row] <= left:
            left = take(row, vectors.row(row)[0])
    taken = set(chosen)
    order = falling(worth)
    best = next(order, None)  # of the rows not looked at so far
    heap: list[tuple[float, int, int]] = []  # of the others: gain, row, and how many were chosen when it was that
    while left > 0:
        # What was never looked at has at most its worth: only what comes before it in the heap can be better.
        while best is not None and (not heap or (-worth[best], best) < heap[0][:2]):
            if best not in taken:
                heapq.heappush(heap, (-float(worth[best]), best, 0))
            best = next(order, None)
        if not heap:
            break
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
        left = take(row, columns)
    return chosen


def falling(worth: np.ndarray, band: int = BAND) -> Iterator[int]:
    """Rows by falling `worth` ((n,) no NaN), of equal ones the lower first.

    Sorted `band` rows at a time and as they are asked for: there may be millions, and of most of them none ever is.
    """
    left = np.ones(len(worth), bool)
    while left.any():
        values = worth[left]
        lowest = max(len(values) - band, 0)
        values.partition(lowest)
        rows = np.flatnonzero(left & (worth >= values[lowest]))
        left[rows] = False
        yield from rows[np.argsort(-worth[rows], kind="stable")].tolist()
