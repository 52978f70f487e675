"""Writes a bigWig from runs of equal values."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from longseq.formats.bigwig.blocks import Blocks
from longseq.formats.bigwig.layout import (
    HEAD_WORDS,
    HEADER,
    ITEM,
    LEVEL,
    MAGIC,
    SUMMARY,
    TOTALS,
    VERSION,
    names_tree,
)
from longseq.formats.bigwig.summaries import Summaries, finest, of_runs

ITEMS, SUMMARIES = 1024, 512
"""Runs and summaries of a block, at most."""
BATCH = 16 * ITEMS
"""Runs worked on at once."""
FEW = 16
"""Runs of a record, on the average, up to which blocks are not packed: zlib would make most of them larger, at many
times the cost."""
LEVELS = 10
"""Scales of summaries, at most."""


class Runs(NamedTuple):
    """Runs in order, of one record or several: `[start, end)` of each, and the value of all its bases."""

    record: np.ndarray
    """(N,) int64: its place among the names."""
    start: np.ndarray
    """(N,) int64."""
    end: np.ndarray
    """(N,) int64."""
    value: np.ndarray
    """(N,) float32."""


def write(path: Path, names: Sequence[str], lengths: Sequence[int], runs: Iterable[Runs]) -> bool:
    """Values, trees and summaries; whether there was any value, and so a file.

    Records are in the order of their names, runs in that of their starts, and none overlaps another. Values wait on
    disk beside `path`, as the names of those records that have any stand in front of them.
    """
    present: list[int] = []
    batches = _batches(runs, present)
    first = next(batches, None)
    if first is None:
        return False
    with ExitStack() as stack:
        spool: IO[bytes] = stack.enter_context(tempfile.TemporaryFile(dir=path.parent))
        packed = len(first.record) > FEW * len(np.unique(first.record))
        values, totals, number = Blocks(spool, ITEMS, values=True, packed=packed), _Totals(), 0
        summaries = Summaries(finest(float((first.end - first.start).mean())), path.parent)
        stack.callback(summaries.close)
        batch: Runs | None = first
        while batch is not None:
            _add(values, batch)
            totals.add(batch)
            summaries.add(of_runs(*batch, summaries.width))
            number += len(batch.start)
            batch = next(batches, None)
        summaries.finish()
        with open(path, "wb") as out:
            out.write(bytes(HEADER.size + LEVELS * LEVEL.size + TOTALS.size))
            tree = out.tell()
            out.writelines(names_tree([names[i] for i in present], [lengths[i] for i in present], tree))
            data = out.tell()
            out.write(values.number.to_bytes(8, "little"))
            spool.seek(0)
            shutil.copyfileobj(spool, out, 1 << 20)
            index = out.tell()
            out.writelines(values.index(data + 8))
            levels = _levels(out, summaries, number, packed)
            out.write(MAGIC.to_bytes(4, "little"))
            out.seek(0)
            largest = max(4 * HEAD_WORDS + ITEMS * ITEM.itemsize, SUMMARIES * SUMMARY.itemsize) if packed else 0
            place = HEADER.size + LEVELS * LEVEL.size
            out.write(HEADER.pack(MAGIC, VERSION, len(levels), tree, data, index, 0, 0, 0, place, largest, 0))
            out.write(b"".join(levels).ljust(LEVELS * LEVEL.size, b"\0"))
            out.write(totals.packed())
    return True


def _batches(runs: Iterable[Runs], present: list[int]) -> Iterator[Runs]:
    """Known runs by the number, always as many: what is written does not depend on how they came. `present` is filled
    with the records that have any, by whose places in it the runs are numbered anew."""
    waiting: list[Runs] = []
    size = 0
    for one in runs:
        known = ~np.isnan(one.value)
        if not known.all():
            one = Runs(*(column[known] for column in one))
        if not len(one.record):
            continue
        changes = np.concatenate([[not present or one.record[0] != present[-1]], one.record[1:] != one.record[:-1]])
        place = len(present) - 1 + np.cumsum(changes)
        present += one.record[changes].tolist()
        waiting.append(one._replace(record=place))
        size += len(place)
        while size >= BATCH:
            whole = Runs(*map(np.concatenate, zip(*waiting, strict=True)))
            yield Runs(*(column[:BATCH] for column in whole))
            waiting, size = [Runs(*(column[BATCH:] for column in whole))], size - BATCH
    if size:
        yield Runs(*map(np.concatenate, zip(*waiting, strict=True)))


def _add(values: Blocks, batch: Runs) -> None:
    items = np.empty(len(batch.start), ITEM)
    items["start"], items["end"], items["value"] = batch.start, batch.end, batch.value
    values.add(batch.record, batch.start, batch.end, items)


def _levels(out: IO[bytes], summaries: Summaries, number: int, packed: bool) -> list[bytes]:
    """Write the summaries, ever wider, while a scale has at most half the rows of what is there; their heads."""
    heads: list[bytes] = []
    folder = Path(out.name).parent
    while len(heads) < LEVELS and 2 * summaries.rows <= number and summaries.width < 1 << 32:
        data = out.tell()
        out.write(summaries.rows.to_bytes(4, "little"))
        blocks = Blocks(out, SUMMARIES, values=False, packed=packed)
        for rows in summaries.read():
            blocks.add(rows["record"], rows["start"], rows["end"], rows)
        index = out.tell()
        out.writelines(blocks.index(data + 4))
        heads.append(LEVEL.pack(summaries.width, 0, data, index))
        narrow, number = summaries, summaries.rows
        summaries = narrow.wider(folder)
        narrow.close()
    summaries.close()
    return heads


class _Totals:
    """Of all bases that have a value."""

    def __init__(self) -> None:
        self._bases, self._sum, self._squares = 0, 0.0, 0.0
        self._least, self._greatest = np.inf, -np.inf

    def add(self, batch: Runs) -> None:
        bases, values = batch.end - batch.start, batch.value.astype(np.float64)
        self._bases += int(bases.sum())
        self._sum += float((values * bases).sum())
        self._squares += float((values**2 * bases).sum())
        self._least, self._greatest = min(self._least, values.min()), max(self._greatest, values.max())

    def packed(self) -> bytes:
        return TOTALS.pack(self._bases, self._least, self._greatest, self._sum, self._squares)
