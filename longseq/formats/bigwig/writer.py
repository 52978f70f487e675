"""Writes a bigWig from runs of equal values."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from longseq.formats.bigwig.blocks import Blocks
from longseq.formats.bigwig.layout import (
    BED_GRAPH,
    HEADER,
    ITEM,
    LEVEL,
    MAGIC,
    SECTION,
    SUMMARY,
    TOTALS,
    VERSION,
    names_tree,
)
from longseq.formats.bigwig.summaries import Summaries, finest, of_runs

ITEMS, SUMMARIES = 1024, 512
"""Runs and summaries of a block, at most."""
BATCH = 64 * ITEMS
"""Runs worked on at once."""
LEVELS = 10
"""Scales of summaries, at most."""


class Runs(NamedTuple):
    """Runs of one record, in order: `[start, end)` of each, and the value of all its bases."""

    name: str
    start: np.ndarray
    """(N,) int64."""
    end: np.ndarray
    """(N,) int64."""
    value: np.ndarray
    """(N,) float32."""


class _Batch(NamedTuple):
    record: np.ndarray
    start: np.ndarray
    end: np.ndarray
    value: np.ndarray


def write(path: Path, lengths: Mapping[str, int], runs: Iterable[Runs]) -> bool:
    """Values, trees and summaries; whether there was any value, and so a file.

    Records are in the order of their names, runs in that of their starts, and none overlaps another. Packed values wait
    on disk beside `path`, as the names of those records that have any stand in front of them.
    """
    names: list[str] = []
    batches = _batches(runs, names)
    first = next(batches, None)
    if first is None:
        return False
    with ExitStack() as stack:
        spool: IO[bytes] = stack.enter_context(tempfile.TemporaryFile(dir=path.parent))
        values, totals, number = Blocks(spool, ITEMS), _Totals(), 0
        summaries = Summaries(finest(float((first.end - first.start).mean())), path.parent)
        stack.callback(summaries.close)
        batch: _Batch | None = first
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
            out.write(names_tree(names, [lengths[name] for name in names], tree))
            data = out.tell()
            out.write(values.number.to_bytes(8, "little"))
            spool.seek(0)
            shutil.copyfileobj(spool, out, 1 << 20)
            index = out.tell()
            out.write(values.index(data + 8))
            levels = _levels(out, summaries, number)
            out.write(MAGIC.to_bytes(4, "little"))
            out.seek(0)
            largest = max(SECTION.size + ITEMS * ITEM.itemsize, SUMMARIES * SUMMARY.itemsize)
            place = HEADER.size + LEVELS * LEVEL.size
            out.write(HEADER.pack(MAGIC, VERSION, len(levels), tree, data, index, 0, 0, 0, place, largest, 0))
            out.write(b"".join(levels).ljust(LEVELS * LEVEL.size, b"\0"))
            out.write(totals.packed())
    return True


def _batches(runs: Iterable[Runs], names: list[str]) -> Iterator[_Batch]:
    """Known runs by the number, always as many: what is written does not depend on how they came. `names` is filled
    with those of the records that have any."""
    waiting: list[_Batch] = []
    size = 0
    for name, start, end, value in runs:
        known = ~np.isnan(value)
        if not known.all():
            start, end, value = start[known], end[known], value[known]
        if not len(start):
            continue
        if not names or names[-1] != name:
            names.append(name)
        waiting.append(_Batch(np.full(len(start), len(names) - 1), start, end, value))
        size += len(start)
        while size >= BATCH:
            whole = _Batch(*map(np.concatenate, zip(*waiting, strict=True)))
            yield _Batch(*(column[:BATCH] for column in whole))
            waiting, size = [_Batch(*(column[BATCH:] for column in whole))], size - BATCH
    if size:
        yield _Batch(*map(np.concatenate, zip(*waiting, strict=True)))


def _add(values: Blocks, batch: _Batch) -> None:
    items = np.empty(len(batch.start), ITEM)
    items["start"], items["end"], items["value"] = batch.start, batch.end, batch.value

    def packed(a: int, b: int) -> bytes:
        head = SECTION.pack(batch.record[a], batch.start[a], batch.end[b - 1], 0, 0, BED_GRAPH, 0, b - a)
        return head + items[a:b].tobytes()

    values.add(batch.record, batch.start, batch.end, packed)


def _levels(out: IO[bytes], summaries: Summaries, number: int) -> list[bytes]:
    """Write the summaries, ever wider, while a scale has at most half the rows of what is there; their heads."""
    heads: list[bytes] = []
    folder = Path(out.name).parent
    while len(heads) < LEVELS and 2 * summaries.rows <= number:
        data = out.tell()
        out.write(summaries.rows.to_bytes(4, "little"))
        blocks = Blocks(out, SUMMARIES)
        for rows in summaries.read():
            blocks.add(rows["record"], rows["start"], rows["end"], partial(_packed, rows))
        index = out.tell()
        out.write(blocks.index(data + 4))
        heads.append(LEVEL.pack(summaries.width, 0, data, index))
        narrow, number = summaries, summaries.rows
        summaries = narrow.wider(folder)
        narrow.close()
    summaries.close()
    return heads


def _packed(rows: np.ndarray, first: int, last: int) -> bytes:
    return rows[first:last].tobytes()


class _Totals:
    """Of all bases that have a value."""

    def __init__(self) -> None:
        self._bases, self._sum, self._squares = 0, 0.0, 0.0
        self._least, self._greatest = np.inf, -np.inf

    def add(self, batch: _Batch) -> None:
        bases, values = batch.end - batch.start, batch.value.astype(np.float64)
        self._bases += int(bases.sum())
        self._sum += float((values * bases).sum())
        self._squares += float((values**2 * bases).sum())
        self._least, self._greatest = min(self._least, values.min()), max(self._greatest, values.max())

    def packed(self) -> bytes:
        return TOTALS.pack(self._bases, self._least, self._greatest, self._sum, self._squares)
