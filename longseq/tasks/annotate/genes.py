"""Which genes stand together: the best-scored choice among candidates, with the overlaps that real operons have.

In Leptospira kirschneri H1, of 4,162 genes, 624 overlap the next one on the same strand and 145 on the opposite one.
The rules:

* no gene lies inside another, and none shares its begin or end;
* two genes share at most `SAME` bases on one strand, at most `OPPOSITE` on opposite strands;
* no base lies in three genes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

from longseq.config import require

SAME, OPPOSITE = 60, 200
"""Bases that two genes may share, on one strand and on opposite ones."""


class Gene(NamedTuple):
    """A candidate with its score, or a chosen gene; of a circular record of L bases `end` may lie behind L."""

    start: int
    end: int
    strand: Literal["+", "-"]
    score: float
    """In any unit in which sums make sense; a candidate at or below 0 is never chosen."""
    open_begin: bool = False
    """It comes in from behind the record's end."""
    open_end: bool = False
    """It leaves the record before a stop codon."""


def allowed(left: Gene, right: Gene, same: int = SAME, opposite: int = OPPOSITE) -> bool:
    """Whether two genes may stand together, `left` the one that starts first."""
    if not (left.start < right.start and left.end < right.end):
        return False
    return left.end - right.start <= (same if left.strand == right.strand else opposite)


def choose(
    candidates: Sequence[Gene], *, length: int | None = None, same: int = SAME, opposite: int = OPPOSITE
) -> list[Gene]:
    """The choice with the largest sum of scores under the rules above, sorted by start.

    Time n log n plus the number of pairs that overlap by less than the rules allow. Of a circular record each candidate
    across the origin is tried in turn; a last gene of the circle that overlaps it leaves `max(same, opposite)` bases of
    it free for the first one.

    Args:
        candidates: Any number for each reading frame, as one for each start codon.
        length: L, of a circular record; None: it is linear.
    """
    require(min(same, opposite) >= 0, "overlap", min(same, opposite), ">= 0 bases")
    good = sorted(gene for gene in candidates if gene.score > 0)
    if length is None:
        return _chain(good, same, opposite)[1]
    inside = [gene for gene in good if gene.end <= length]
    best = _chain(inside, same, opposite)
    for first in good:
        if first.end <= length:
            continue
        # The circle is opened where this gene begins; it closes it again at the other end, without score.
        others = [_turned(gene, first.start, length) for gene in good]
        others = [gene for gene in others if gene.start > first.start and allowed(first, gene, same, opposite)]
        close = first._replace(start=first.start + length, end=first.end + length, score=0.0)
        free = max(close.end - max(same, opposite), close.start)
        others = [gene for gene in others if allowed(gene, close, same, opposite) and gene.end <= free]
        total, chain = _chain([first, *sorted(others), close], same, opposite, closed=True)
        if total > best[0]:
            best = total, chain[:-1]
    return sorted(_turned(gene, 0, length) for gene in best[1])


def _turned(gene: Gene, origin: int, length: int) -> Gene:
    """The gene with a start in [origin, origin + length)."""
    start = origin + (gene.start - origin) % length
    return gene._replace(start=start, end=start + gene.end - gene.start)


class _State(NamedTuple):
    """The best chain that ends with a gene, and with the one before it where the two overlap."""

    total: float
    gene: int
    before: _State | None


def _chain(genes: Sequence[Gene], same: int, opposite: int, *, closed: bool = False) -> tuple[float, list[Gene]]:
    """Sum of scores and genes, sorted by start, of the best chain; a `closed` one has the first and the last of them.

    A state is a gene whose predecessor lies apart (`apart`), or a pair of genes that overlap (`pairs`): the third gene
    must begin behind the first one's end.
    """
    by_end = sorted(range(len(genes)), key=lambda i: genes[i].end)
    ends = [genes[i].end for i in by_end]
    apart: list[_State | None] = [None] * len(genes)
    pairs: list[list[tuple[int, _State]]] = [[] for _ in genes]
    passed, best = 0, None

    def finest(i: int) -> _State | None:
        states = [state for state in (apart[i], *(state for _, state in pairs[i])) if state is not None]
        return max(states, key=lambda state: state.total, default=None)

    def up_to(limit: int) -> None:
        """Take up genes that end by `limit` into the best chain in front of what comes."""
        nonlocal passed, best
        while passed < len(ends) and ends[passed] <= limit:
            state = finest(by_end[passed])
            if state is not None and (best is None or state.total > best.total):
                best = state
            passed += 1

    for j, gene in enumerate(genes):
        up_to(gene.start)
        if best is not None:
            apart[j] = _State(best.total + gene.score, j, best)
        elif not closed or j == 0:
            apart[j] = _State(gene.score, j, None)
        for k in range(passed, bisect_right(ends, gene.start + max(same, opposite))):
            i = by_end[k]
            if not allowed(genes[i], gene, same, opposite):
                continue
            state = apart[i]
            for end, other in pairs[i]:
                if end <= gene.start and (state is None or other.total > state.total):
                    state = other
            if state is not None:
                pairs[j].append((genes[i].end, _State(state.total + gene.score, j, state)))
    last: _State | None = None
    for j in range(len(genes) - 1 if closed else 0, len(genes)):
        state = finest(j)
        if state is not None and (last is None or state.total > last.total):
            last = state
    total, chosen = (last.total if last else 0.0), []
    while last is not None:
        chosen.append(genes[last.gene])
        last = last.before
    return total, chosen[::-1]
