"""How called genes compare with annotated ones: counts a contig, which add up, and figures of sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

WINDOW = 300
"""Bases of a window that is of one kind throughout."""
KINDS = ("intergenic", "+", "-")


class Call(NamedTuple):
    start: int
    end: int
    """Across an origin it lies behind the length."""
    strand: str

    @property
    def stop(self) -> tuple[str, int]:
        """Strand, and the base behind the 3' end."""
        return (self.strand, self.end) if self.strand == "+" else (self.strand, self.start)


class Truth(NamedTuple):
    length: int
    complete: list[Call]
    """Genes from start to stop that are not pseudogenes."""
    partial: list[Call]
    pseudo: list[Call]
    """Stretches of pseudogenes, and of genes in several parts."""


def counts(truth: Truth, calls: Sequence[Call]) -> dict[str, np.ndarray]:
    """Counts of one contig, each an array."""
    stops = {call.stop: call for call in calls}
    found = [gene for gene in truth.complete if gene.stop in stops]
    exact = sum(stops[gene.stop] == gene for gene in found)
    names = {gene.stop for gene in truth.complete}
    other = _strands(truth.length, truth.partial + truth.pseudo)
    wrong = 0
    for call in calls:
        if call.stop not in names:
            row = other[KINDS.index(call.strand) - 1, call.start : min(call.end, truth.length)]
            wrong += row.mean() < 0.5 if len(row) else 1
    ordered = sorted(truth.complete)
    pairs = [(a, b) for a, b in pairwise(ordered) if b.start < a.end]
    got = sum(a.stop in stops and b.stop in stops for a, b in pairs)
    called = _strands(truth.length, calls)
    known = _strands(truth.length, truth.complete + truth.partial)
    asked = ~(_strands(truth.length, truth.pseudo).any(0) & ~known.any(0))
    pseudo = sum(bool(_covered(called, gene) >= 0.5) for gene in truth.pseudo)
    partial = sum(bool(_covered(called, gene) >= 0.5) for gene in truth.partial)
    coding, said = known.any(0)[asked], called.any(0)[asked]
    strand = [
        (np.sum(known[i][asked] & called[i][asked]), np.sum(called[i][asked]), np.sum(known[i][asked]))
        for i in range(2)
    ]
    return {
        "genes": np.array([len(truth.complete), len(found), exact]),
        "called": np.array([len(found), wrong]),
        "pairs": np.array([len(pairs), got]),
        "pseudo": np.array([len(truth.pseudo), pseudo]),
        "partial": np.array([len(truth.partial), partial]),
        "coding": np.array([np.sum(coding & said), said.sum(), coding.sum()]),
        "strand": np.array(strand),
        "windows": _windows(truth, called),
    }


def figures(rows: Sequence[dict[str, np.ndarray]]) -> dict[str, float]:
    """Of all contigs together."""
    total = {name: np.sum([row[name] for row in rows], 0) for name in rows[0]}
    genes, called = total["genes"], total["called"]
    strands = [_f1(*row) for row in total["strand"]]
    return {
        "recall_3": genes[1] / max(genes[0], 1),
        "recall_5": genes[2] / max(genes[0], 1),
        "precision": called[0] / max(called.sum(), 1),
        "pairs": total["pairs"][1] / max(total["pairs"][0], 1),
        "pseudo": total["pseudo"][1] / max(total["pseudo"][0], 1),
        "partial": total["partial"][1] / max(total["partial"][0], 1),
        "coding_f1": _f1(*total["coding"]),
        "strand_f1": float(np.mean(strands)),
        "windows": balanced(total["windows"]),
    }


def differences(
    ours: Sequence[dict[str, np.ndarray]],
    theirs: Sequence[dict[str, np.ndarray]],
    *,
    samples: int = 1000,
    seed: int = 0,
) -> dict[str, tuple[float, float, float]]:
    """Ours minus theirs, and the 95 % interval over contigs drawn with replacement, the same for both."""
    draw = np.random.default_rng(seed)
    one, two = figures(ours), figures(theirs)
    found: dict[str, list[float]] = {name: [] for name in one}
    for _ in range(samples):
        some = draw.integers(len(ours), size=len(ours)).tolist()
        a, b = figures([ours[i] for i in some]), figures([theirs[i] for i in some])
        for name in found:
            found[name].append(a[name] - b[name])
    return {
        name: (one[name] - two[name], *(float(x) for x in np.quantile(values, [0.025, 0.975])))
        for name, values in found.items()
    }


def pure_windows(truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    """Starts (N,) of the windows of a grid that are of one kind throughout, and their kinds (N,)."""
    known = _strands(truth.length, truth.complete + truth.partial)
    doubt = _strands(truth.length, truth.pseudo).any(0)
    kind = np.where(known[0] & known[1], -1, np.where(known[0], 1, np.where(known[1], 2, 0)))
    kind[doubt] = -1
    number = truth.length // WINDOW
    grid = kind[: number * WINDOW].reshape(number, WINDOW)
    pure = np.flatnonzero((grid == grid[:, :1]).all(1) & (grid[:, 0] >= 0))
    return pure * WINDOW, grid[pure, 0]


def balanced(table: np.ndarray) -> float:
    """Mean of the classes' recalls, from counts (true, said)."""
    sizes = table.sum(1)
    return float(np.mean(np.diag(table)[sizes > 0] / sizes[sizes > 0])) if sizes.any() else float("nan")


def _windows(truth: Truth, called: np.ndarray) -> np.ndarray:
    """(3, 3) windows by their kind and by what most of their bases are called."""
    starts, kinds = pure_windows(truth)
    table = np.zeros((3, 3), int)
    for start, kind in zip(starts.tolist(), kinds.tolist(), strict=True):
        here = called[:, start : start + WINDOW]
        said = [int((~here.any(0)).sum()), int(here[0].sum()), int(here[1].sum())]
        table[kind, int(np.argmax(said))] += 1
    return table


def _strands(length: int, calls: Sequence[Call]) -> np.ndarray:
    """(2, L) bool: what lies in a call of either strand."""
    found = np.zeros((2, length), bool)
    for call in calls:
        row = found[0 if call.strand == "+" else 1]
        row[call.start : call.end] = True
        row[: max(call.end - length, 0)] = True
    return found


def _covered(called: np.ndarray, gene: Call) -> float:
    return float(called[0 if gene.strand == "+" else 1, gene.start : gene.end].mean())


def _f1(both: int, said: int, true: int) -> float:
    return float(2 * both / max(said + true, 1))
