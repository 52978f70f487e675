"""`tracks/*.bw`: figures of windows along records as bigWig, for genome browsers."""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from longseq.formats.bigwig import LONGEST, Run, Stretch, write_bigwig, write_runs
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

log = logging.getLogger("longseq")

FOLDER = "tracks"
WINDOWS = ("gc", "gc_skew", "at_skew", "entropy", "cpg", "low_complexity", "softmask", "bits")
"""Columns of windows that have a track each, of the same name; that of `bits` is `bits_per_base`."""
NAMES = {"bits": "bits_per_base"}
BLOCK = 1 << 16
"""Values read back at once."""


class _Place(NamedTuple):
    """A record's windows in the spool of windows, and its bases in that of bases."""

    width: int
    """Bases a window."""
    first: int
    number: int
    """Of windows."""
    bases: int
    """-1 where there are none."""
    start: int
    end: int


class Tracks:
    """Figures wait on disk until all records are known, since a bigWig wants them in order of name; use it as a context
    manager, and `write` at the end.

    Windows without a base are gaps. A record without a name, one whose name stood before in its file, and one too long
    for the format have no track; parts of one record have, where they do not overlap. Reads have none either. Several
    inputs have a folder each.
    """

    def __init__(self) -> None:
        self._windows, self._bases = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - by __exit__
        self._records: dict[str, dict[str, list[_Place]]] = {}
        self._left_out: dict[str, int] = {}
        self._measured = self._at = 0

    def __enter__(self) -> Tracks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._windows.close()
        self._bases.close()

    def dna(self, summary: RecordSummary) -> None:
        row, windows = summary.row, summary.windows
        if windows is None or not len(windows) or row.expected_errors is not None:
            return
        records, end = self._records.setdefault(row.file, {}), row.start + row.length
        before = records.get(row.id, [])
        part = "offset" in row.notes and all(end <= place.start or place.end <= row.start for place in before)
        if not row.id or (before and not part) or end > LONGEST:
            self._left_out[row.file] = self._left_out.get(row.file, 0) + 1
            return
        table = np.empty((len(windows), len(WINDOWS)), np.float32)
        for i, name in enumerate(WINDOWS):
            table[:, i] = getattr(windows, name)
        self._windows.write(table.tobytes())
        bases = -1
        if summary.base_bits is not None:
            bases = self._at
            for bits in summary.base_bits():
                self._bases.write(bits.astype(np.float32).tobytes())
                self._at += len(bits)
        width = int(windows.end[0] - windows.start[0])
        records[row.id] = [*before, _Place(width, self._measured, len(windows), bases, row.start, end)]
        self._measured += len(windows)

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no tracks."""

    def write(self, folder: Path) -> None:
        """`tracks/` in `folder`, with what there is a value for."""
        for file, count in self._left_out.items():
            log.warning("%s: %d records share a name, have none or are too long, and have no track", file, count)
        taken: set[str] = set()
        for file, records in self._records.items():
            place = folder / FOLDER
            if len(self._records) > 1:
                place /= _free(re.sub(r"[^\w.+-]", "_", Path(file).name), taken)
            place.mkdir(parents=True)
            self._write(place, records)

    def _write(self, folder: Path, records: dict[str, list[_Place]]) -> None:
        lengths = {name: max(place.end for place in places) for name, places in records.items()}
        ordered = [(name, place) for name in sorted(records) for place in sorted(records[name], key=_start)]
        for i, column in enumerate(WINDOWS):
            path = folder / f"{NAMES.get(column, column)}.bw"
            if column == "bits" and any(place.bases >= 0 for _, place in ordered):
                write_bigwig(path, lengths, self._stretches(ordered))
            else:
                write_runs(path, lengths, self._runs(ordered, i))

    def _runs(self, ordered: Sequence[tuple[str, _Place]], column: int) -> Iterator[Run]:
        size = 4 * len(WINDOWS)
        for name, place in ordered:
            at = place.start
            for first in range(0, place.number, BLOCK):
                count = min(BLOCK, place.number - first)
                self._windows.seek((place.first + first) * size)
                table = np.frombuffer(self._windows.read(count * size), np.float32).reshape(count, -1)
                for value in table[:, column].tolist():
                    end = min(at + place.width, place.end)
                    yield name, at, end, value
                    at = end

    def _stretches(self, ordered: Sequence[tuple[str, _Place]]) -> Iterator[Stretch]:
        for name, place in ordered:
            for start in range(place.start, place.end, BLOCK):
                count = min(BLOCK, place.end - start)
                self._bases.seek(4 * (place.bases + start - place.start))
                yield name, start, np.frombuffer(self._bases.read(4 * count), np.float32)


def _start(place: _Place) -> int:
    return place.start


def _free(name: str, taken: set[str]) -> str:
    """`name`, or with a number behind it where it is taken."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}.{number}", number + 1
    taken.add(found)
    return found
