"""bigWig: a number for each base of named records, float32, nothing where there is none (Kent et al., Bioinformatics
26:2204, 2010)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import numpy as np

from longseq.errors import LongseqError, UsageError

LONGEST = 2**32 - 1
"""Bases of a record that the format can count."""

OVERLAP = "%s: parts overlap; tracks have the figures of the part given first"
"""What is said of parts of one record that overlap: the format holds one value a base."""

Stretch = tuple[str, int, np.ndarray]
"""Name of a record, 0-based start, and values of the bases from there on."""
Run = tuple[str, int, int, float]
"""Name of a record, 0-based start, end, and the value of all bases between."""


def write_bigwig(path: str | Path, lengths: Mapping[str, int], stretches: Iterable[Stretch]) -> bool:
    """Write values, with a gap where one is NaN; equal neighbours are stored as one run.

    Records without any value are not in the file: the library lists those that have some. Where none has any there is
    no file, and the answer is False.

    Args:
        lengths: Bases of each record.
        stretches: In the order of `sorted(lengths)`, then of their starts, not overlapping.

    Raises:
        UsageError: a record without a name, or too long for the format.
        LongseqError: the file cannot be written.
    """
    return write_runs(path, lengths, _runs(stretches))


def write_runs(path: str | Path, lengths: Mapping[str, int], runs: Iterable[Run]) -> bool:
    """The same of runs, each stored as it is; one of NaN is left out."""
    for name, length in lengths.items():
        if not name:
            raise UsageError("bigWig wants a name of each record", where=str(path), remedy="name it")
        if length > LONGEST:
            raise UsageError(where=f"{path} ({name})", expected=f"at most {LONGEST:,} bases", found=f"{length:,}")
    import pybigtools

    known = (run for run in runs if run[3] == run[3])
    first = next(known, None)
    if first is None:
        return False
    failure: list[BaseException] = []
    names: set[str] = set()

    def entries() -> Iterator[Run]:
        try:
            for run in chain([first], known):
                names.add(run[0])
                yield run
        except BaseException as error:  # it would come back as another kind of error, without its traceback
            failure.append(error)

    try:
        pybigtools.open(str(path), "w").write(dict(lengths), entries())
        # Of some faults the library only prints a line; what it wrote cannot be read then.
        whole = bool(failure) or set(pybigtools.open(str(path)).chroms()) == names
    except Exception as error:  # it raises nothing more special
        raise LongseqError(f"cannot be written: {error}", where=str(path)) from None
    if failure:
        raise failure[0]
    if not whole:
        raise LongseqError("cannot be written: not all records are in it", where=str(path))
    return True


def _runs(stretches: Iterable[Stretch]) -> Iterator[Run]:
    """Name, start, end and value of each run, whatever the stretches were cut into."""
    held: Run | None = None
    for name, start, values in stretches:
        values = np.asarray(values, np.float32)
        if not len(values):
            continue
        bounds = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1], [True]]))
        for a, b, value in zip(bounds[:-1].tolist(), bounds[1:].tolist(), values[bounds[:-1]].tolist(), strict=True):
            if value != value:  # NaN
                continue
            if held is not None and held[0] == name and held[2] == start + a and held[3] == value:
                held = (name, held[1], start + b, value)
                continue
            if held is not None:
                yield held
            held = (name, start + a, start + b, value)
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
