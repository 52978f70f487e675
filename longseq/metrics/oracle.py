"""The best that quoting can do: sentences chosen with the reference in hand, greedily.

Nallapati, Zhai and Zhou (2017), "SummaRuNNer", section 3.1: the next sentence is the one that raises ROUGE most, until
none does. Such choices are what an extractor is taught and the ceiling that its figures stand under.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from longseq.metrics.rouge import tokenizer

CANDIDATES = 200
"""Sentences that are looked at: those that hold most of the reference."""
SIZES = (1, 2)
"""Tokens of the runs counted: ROUGE-1 and ROUGE-2."""


def oracle(reference: str, sentences: Sequence[str], words: Sequence[int] | np.ndarray, budget: int) -> list[int]:
    """Rows of `sentences` that raise the sum of ROUGE-1 and ROUGE-2 F against `reference`, in the order chosen.

    Pairs of tokens are counted within sentences, so that the figure of the choice, which counts those across their
    seams, may differ in the third digit. Ties go to the lower row.

    Args:
        reference: What the summary should have said.
        sentences: (n,) of the document.
        words: (n,) of each, as the budget counts them.
        budget: words at most.
    """
    tokenize = tokenizer(reference)
    wanted = _runs(tokenize(reference))
    numbers = {run: number for number, run in enumerate(wanted)}
    sizes = np.array([len(run) for run in wanted], np.int64)
    asked = np.fromiter(wanted.values(), np.int64, len(wanted))
    totals = np.array([asked[sizes == size].sum() for size in SIZES])
    lengths = np.zeros((len(sentences), len(SIZES)), np.int64)  # runs of each size, in the reference or not
    held: list[dict[int, int]] = []
    for row, sentence in enumerate(sentences):
        tokens = tokenize(sentence)
        lengths[row] = [max(len(tokens) - size + 1, 0) for size in SIZES]
        held.append({numbers[run]: count for run, count in _runs(tokens).items() if run in numbers})
    shared = [sum(min(count, asked[run]) / totals[sizes[run] - 1] for run, count in each.items()) for each in held]
    rows = np.sort(np.argsort(-np.array(shared), kind="stable")[:CANDIDATES])
    rows = rows[[bool(held[row]) for row in rows.tolist()]] if len(rows) else rows
    counts = np.zeros((len(rows), len(wanted)), np.int64)
    for place, row in enumerate(rows.tolist()):
        counts[place, list(held[row])] = list(held[row].values())
    costs, spent, chosen = np.asarray(words, np.int64)[rows], 0, []
    said, length, best = np.zeros(len(wanted), np.int64), np.zeros(len(SIZES), np.int64), 0.0
    free = np.ones(len(rows), bool)
    while (fits := free & (costs <= budget - spent)).any():
        overlap = np.minimum(said + counts, asked)
        both = np.stack([overlap[:, sizes == size].sum(1) for size in SIZES], 1)
        # F = 2 shared / (length + length), each of precision and recall being shared / length
        f = (2 * both / np.maximum(length + lengths[rows] + totals, 1)).sum(1)
        f[~fits] = -1.0
        place = int(f.argmax())
        if f[place] <= best:
            break
        best, free[place] = float(f[place]), False
        said, length, spent = said + counts[place], length + lengths[rows[place]], spent + int(costs[place])
        chosen.append(int(rows[place]))
    return chosen


def held(reference: str, sentences: Sequence[str]) -> np.ndarray:
    """(n,) float64: the share of each sentence that the reference holds, from 0 to 1; a pair of neighbouring tokens
    counts as two single ones. It is ROUGE's precision of the sentence alone, and tells those apart that `oracle` did
    not choose."""
    tokenize = tokenizer(reference)
    wanted = _runs(tokenize(reference))
    found = np.zeros(len(sentences))
    for row, sentence in enumerate(sentences):
        runs = _runs(tokenize(sentence))
        shared = {size: sum(min(n, wanted[run]) for run, n in runs.items() if len(run) == size) for size in SIZES}
        totals = {size: sum(n for run, n in runs.items() if len(run) == size) for size in SIZES}
        found[row] = sum(size * shared[size] / max(totals[size], 1) for size in SIZES) / sum(SIZES)
    return found


def _runs(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + size]) for size in SIZES for i in range(len(tokens) - size + 1))
