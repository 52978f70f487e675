"""bigWig: a number for each base of named records, float32, nothing where there is none (Kent et al., Bioinformatics
26:2204, 2010)."""

from __future__ import annotations

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


def uncovered(start: int, end: int, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What none of `spans` covers of `[start, end)`, in order."""
    found = []
    for first, last in sorted(spans):
        if last <= start or end <= first:
            continue
        if start < first:
            found.append((start, first))
        start = max(start, last)
    return [*found, (start, end)] if start < end else found
