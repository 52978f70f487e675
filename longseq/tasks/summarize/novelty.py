"""Whether a record is like what its model was tried on, by GC and bits a base of its windows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.errors import InputError
from longseq.records import Record

if TYPE_CHECKING:
    from longseq.model.range import TrainingRange

QUANTILES = (0.005, 0.995)
"""Ends of a range: one in a hundred windows of the model's own kind lies outside."""
MANY = 0.5
"""Share of windows outside from which a record is out of range."""
FEWEST = 20
"""Windows a range is measured on, at least."""


def novelty(acgt: np.ndarray, bits: np.ndarray, window: int, known: TrainingRange | None) -> tuple[str, float | None]:
    """`in range`, `out of range` or `unknown`, and the share of windows that are outside.

    Windows shorter than those the range was measured on are joined until they are as long: shorter ones vary more.

    Args:
        acgt: (W, 4) letters of each window of a record.
        bits: (W,) bits a base, NaN where there are none.
        window: Letters a window.
        known: The range of the model; None where it has none.
    """
    if known is None or not len(acgt):
        return "unknown", None
    gc, cost = _joined(acgt, bits, window, known.window)
    if not len(gc):
        return "unknown", None
    outside = (gc < known.gc[0]) | (gc > known.gc[1]) | (cost < known.bits[0]) | (cost > known.bits[1])
    share = float(outside.mean())
    return "out of range" if share > MANY else "in range", share


def training_range(surprisal: Any) -> TrainingRange | None:
    """That of the model that reads; None where its checkpoint has none."""
    from longseq.model.range import read_range

    return read_range(surprisal.checkpoint.path, surprisal.checkpoint.sha256)


def measure_range(
    surprisal: Any, records: Iterable[Record], *, of: str, window: int = 10_000, last: float = 1.0
) -> TrainingRange:
    """The range of windows of `records` that a model did not learn from.

    Args:
        surprisal: Reads bits a base, as `summarize_records` takes it.
        records: Read whole, both strands.
        of: What they are, in words.
        window: Bases a window.
        last: Share of each record, its end, of which windows count; what is in front is read, not counted.

    Raises:
        InputError: fewer than FEWEST windows that are at least half full of bases.
    """
    from longseq.model.range import TrainingRange
    from longseq.tasks.summarize.dna import summarize_records

    gcs, costs = [np.zeros(0)], [np.zeros(0)]
    for summary in summarize_records(records, window=window, surprisal=surprisal, top=0):
        windows = summary.windows
        assert windows is not None
        chosen = windows.start >= summary.row.start + (1 - last) * summary.row.length
        acgt = np.stack([windows.a, windows.c, windows.g, windows.t], 1)[chosen]
        gc, cost = _joined(acgt, windows.bits[chosen], window, window)
        gcs.append(gc)
        costs.append(cost)
    gc, cost = np.concatenate(gcs), np.concatenate(costs)
    if len(gc) < FEWEST:
        raise InputError(where=of, expected=f"{FEWEST} windows or more", found=str(len(gc)))
    ends = {name: tuple(np.quantile(x, QUANTILES).tolist()) for name, x in (("gc", gc), ("bits", cost))}
    return TrainingRange(window=window, windows=len(gc), quantiles=QUANTILES, of=of, **ends)


def _joined(acgt: np.ndarray, bits: np.ndarray, window: int, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """GC in percent and bits a base of windows of `wanted` letters or more, at least half full of bases."""
    joined = -(-wanted // window)
    starts = np.arange(0, len(acgt), joined)
    if not len(starts):
        return np.zeros(0), np.zeros(0)
    letters = np.add.reduceat(acgt.astype(np.int64), starts, axis=0)
    weight = acgt.sum(axis=1) * ~np.isnan(bits)
    cost = np.add.reduceat(np.where(np.isnan(bits), 0, bits).astype(np.float64) * weight, starts)
    bases, called = np.add.reduceat(weight, starts), letters.sum(axis=1)
    full = 2 * bases >= joined * window
    return 100 * letters[full, 1:3].sum(axis=1) / called[full], cost[full] / bases[full]
