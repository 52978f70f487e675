"""bigWig: a number for each base of named records, float32, nothing where there is none (Kent et al., Bioinformatics
26:2204, 2010)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from longseq.errors import LongseqError, UsageError
from longseq.formats.bigwig.writer import Runs, write

LONGEST, LONGEST_NAME = 2**32 - 1, 255
"""Bases of a record that the format can count, and letters of its name that genome browsers take: all names are as
wide in a file as the longest one."""

OVERLAP = "%s: parts overlap; tracks have the figures of the part given first"
"""What is said of parts of one record that overlap: the format holds one value a base."""

Stretch = tuple[str, int, np.ndarray]
"""Name of a record, 0-based start, and values of the bases from there on."""


def write_bigwig(path: str | Path, lengths: Mapping[str, int], stretches: Iterable[Stretch]) -> bool:
    """Write values, with a gap where one is NaN; equal neighbours are stored as one run.

    Records without any value are not in the file. Where none has any there is no file, and the answer is False. The
    number of records does not matter: names and values are found through trees.

    Args:
        lengths: Bases of each record.
        stretches: In the order of `sorted(lengths)`, then of their starts, not overlapping.

    Raises:
        UsageError: a record without a name, or too long for the format.
        LongseqError: the file cannot be written.
    """
    names = sorted(lengths)
    return write_runs(path, names, [lengths[name] for name in names], _runs(stretches, names))


def write_runs(path: str | Path, names: Sequence[str], lengths: Sequence[int], runs: Iterable[Runs]) -> bool:
    """The same of runs, each stored as it is; one of NaN is left out.

    Args:
        names: Of the records, sorted.
        lengths: Bases of each.
        runs: By record, then by start, not overlapping.
    """
    for name, length in zip(names, lengths, strict=True):
        if not name:
            raise UsageError("bigWig wants a name of each record", where=str(path), remedy="name it")
        if length > LONGEST:
            raise UsageError(where=f"{path} ({name})", expected=f"at most {LONGEST:,} bases", found=f"{length:,}")
    try:
        return write(Path(path), names, lengths, runs)
    except OSError as error:
        raise LongseqError(f"cannot be written: {error.strerror or error}", where=str(path)) from None


def _runs(stretches: Iterable[Stretch], names: Sequence[str]) -> Iterator[Runs]:
    """Runs of equal values, the same whatever the stretches were cut into."""
    places = {name: place for place, name in enumerate(names)}
    held: Runs | None = None
    for name, start, values in stretches:
        values = np.asarray(values, np.float32)
        if not len(values):
            continue
        bounds = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1], [True]]))
        record = np.full(len(bounds) - 1, places[name])
        found = Runs(record, start + bounds[:-1], start + bounds[1:], values[bounds[:-1]])
        if held is not None and held.record[-1] == found.record[0]:
            same = held.end[-1] == found.start[0] and held.value[-1] == found.value[0]
            if same:
                found.start[0] = held.start[-1]
                held = Runs(*(column[:-1] for column in held))
        if held is not None:
            yield held
        held = found
    if held is not None:
        yield held


class Covered:
    """What of a record is taken already: stretches in order, apart from one another."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def take(self, start: int, end: int) -> list[tuple[int, int]]:
        """What was free of `[start, end)`, in order; from now on all of it is taken."""
        if start >= end:
            return []
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)  # those it meets or touches
        free, at = [], start
        for begin, stop in zip(self._starts[first:last], self._ends[first:last], strict=True):
            if at < begin:
                free.append((at, begin))
            at = max(at, stop)
        if at < end:
            free.append((at, end))
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]
        return free
