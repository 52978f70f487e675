"""The genes a record may have, as arrays: one row for each place where each open reading frame may begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from longseq.formats.genetic_code import GeneticCode
from longseq.tasks.annotate.coding import UNKNOWN, turned
from longseq.tasks.annotate.frames import Sums
from longseq.tasks.annotate.genes import Gene
from longseq.tasks.annotate.orfs import find_orfs
from longseq.tasks.annotate.starts import BEFORE

FAR, SHARED = 50, 20
"""Bases between two genes of an operon at most, and bases that they share at most."""


class Candidates(NamedTuple):
    """N candidates, those of one reading frame side by side; of a circular record `end` may lie behind its length."""

    start: np.ndarray
    end: np.ndarray
    minus: np.ndarray
    """(N,) bool."""
    orf: np.ndarray
    """(N,) number of the open reading frame."""
    open_begin: np.ndarray
    open_end: np.ndarray


def candidates(letters: bytes, code: GeneticCode, *, shortest: int, circular: bool) -> Candidates:
    """All of at least `shortest` bases, the stop codon included."""
    rows: list[tuple[int, int, bool, int, bool, bool]] = []
    for number, orf in enumerate(find_orfs(letters, code, shortest=shortest, circular=circular)):
        for i, (start, end) in enumerate(orf.spans()):
            if end - start >= shortest:
                rows.append((start, end, orf.strand == "-", number, orf.open_begin and i == 0, orf.open_end))
    table = np.array(rows, np.int64).reshape(-1, 6)
    # A later start of a frame across the origin may lie behind it.
    turn = len(letters) * (table[:, 0] >= len(letters))
    return Candidates(
        table[:, 0] - turn, table[:, 1] - turn, table[:, 2] > 0, table[:, 3], table[:, 4] > 0, table[:, 5] > 0
    )


def sums(found: Candidates, of_frames: Sums) -> np.ndarray:
    """(N,) sums over each candidate of what speaks for its reading frame."""
    length = of_frames.length
    anchor = np.where(found.minus, found.end, found.start)
    column = anchor % 3 + 3 * found.minus
    total = of_frames.between(found.start, np.minimum(found.end, length), column)
    around = found.end > length
    if around.any():
        # Behind the origin the same frame has another anchor.
        behind = (anchor[around] - length) % 3 + 3 * found.minus[around]
        end = found.end[around] - length
        total[around] += of_frames.between(np.zeros_like(end), end, behind)
    return total


def neighbours(found: Candidates, genes: Sequence[Gene]) -> np.ndarray:
    """(N,) on how many sides, 0 to 2, another of these genes stands as near on the same strand as in an operon."""
    count = np.zeros(len(found.start), np.int64)
    for minus in (False, True):
        some = np.flatnonzero(found.minus == minus)
        own = [gene for gene in genes if (gene.strand == "-") == minus]
        left = np.sort([gene.end for gene in own]).astype(np.int64)
        right = np.sort([gene.start for gene in own]).astype(np.int64)
        for edges, low, high in (
            (left, found.start[some] - FAR, found.start[some] + SHARED),
            (right, found.end[some] - SHARED, found.end[some] + FAR),
        ):
            count[some] += np.searchsorted(edges, high, "right") > np.searchsorted(edges, low, "left")
    return count


def windows(found: Candidates, which: np.ndarray, codes: np.ndarray, *, circular: bool) -> np.ndarray:
    """(n, BEFORE + 3) codes before the starts of the candidates `which` (n,) and of them, in reading direction."""
    margin = BEFORE + 3
    size, gap = len(codes), np.full(margin, UNKNOWN, np.uint8)
    before, behind = (codes[-margin:], codes[:margin]) if circular else (gap, gap)
    padded = np.concatenate([gap, before, codes, behind, gap])
    padded = padded[len(before) : len(padded) - len(behind)]
    offsets = np.arange(-BEFORE, 3)
    start, end, minus = found.start[which], found.end[which], found.minus[which]
    forwards = padded[margin + start[:, None] + offsets]
    anchor = np.where(end > size, end - size, end)
    backwards = turned(padded)[margin + (size - anchor)[:, None] + offsets]
    return np.where(minus[:, None], backwards, forwards)


def genes(found: Candidates, scores: np.ndarray, *, most: int) -> list[Gene]:
    """Candidates with a score above 0, of each open reading frame the `most` best."""
    order = np.lexsort((-scores, found.orf))
    orf = found.orf[order]
    first = np.flatnonzero(np.concatenate([[True], orf[1:] != orf[:-1]])) if len(orf) else order
    rank = np.arange(len(orf)) - np.repeat(first, np.diff(np.append(first, len(orf))))
    kept = order[(rank < most) & (scores[order] > 0)]
    return [
        Gene(
            int(found.start[i]),
            int(found.end[i]),
            "-" if found.minus[i] else "+",
            float(scores[i]),
            bool(found.open_begin[i]),
            bool(found.open_end[i]),
        )
        for i in kept.tolist()
    ]
