"""`tracks/*.bw`: figures of windows along records as bigWig, for genome browsers."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from longseq.errors import place
from longseq.formats.bigwig import LONGEST, OVERLAP, Runs, Stretch, uncovered, write_bigwig, write_runs
from longseq.log import count
from longseq.report.input_folders import InputFolders
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

log = logging.getLogger("longseq")

WINDOWS = ("gc", "gc_skew", "at_skew", "entropy", "cpg", "low_complexity", "softmask", "bits")
"""Columns of windows that have a track each, of the same name; that of `bits` is `bits_per_base`."""
NAMES = {"bits": "bits_per_base"}
BLOCK = 1 << 16
"""Values read back at once."""


class _Place(NamedTuple):
    """Bases `[start, end)` of a record that are shown, and where the windows that cover them are spooled."""

    start: int
    end: int
    width: int
    """Bases a window."""
    origin: int
    """First base of the first window."""
    first: int
    """That window's number in the spool of windows."""
    bases: int
    """Number of the base `origin` in the spool of bases; -1 where there are none."""
    record: int
    """Position of the record in its file."""


@dataclass
class _Input:
    """What is known of one input."""

    file: str
    records: dict[str, list[_Place]] = field(default_factory=dict)
    """By name, in the order in which they came; of one record each."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Records without a track, by the reason."""
    overlap: bool = False
    """Parts of one record overlap."""


class Tracks:
    """Figures wait on disk until all records are known, since a bigWig wants them in order of name; use it as a context
    manager, and `write` at the end.

    Windows without a base are gaps. A record without a name, one whose name another one had before, and one too long
    for the format have no track; reads have none either. Parts of one record share its tracks: where they overlap, a
    base has the figures of the part that came first, as a bigWig holds one value a base. Several inputs have a folder
    each.
    """

    def __init__(self) -> None:
        self._windows, self._bases = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - by __exit__
        self._inputs: dict[int, _Input] = {}
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
        known, end = self._inputs.setdefault(summary.source, _Input(row.file)), row.start + row.length
        before = known.records.get(row.id, [])
        if reason := _unfit(row.id, any(part.record != row.index for part in before[:1]), end):
            known.left_out[reason] += 1
            return
        free = uncovered(row.start, end, [(part.start, part.end) for part in before])
        known.overlap |= free != [(row.start, end)]
        if not free:
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
        added = [_Place(*span, width, row.start, self._measured, bases, row.index) for span in free]
        known.records[row.id] = [*before, *added]
        self._measured += len(windows)

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no tracks."""

    def write(self, folders: InputFolders) -> None:
        """The tracks there is a value for, and a warning of each record that has none because of its name or length."""
        for source, known in self._inputs.items():
            for reason, number in known.left_out.items():
                log.warning("%s: no track of %s %s", place(known.file), count(number, "record"), reason)
            if known.overlap:
                log.warning(OVERLAP, place(known.file))
            if known.records:
                self._write(folders.tracks(source), known.records)

    def _write(self, folder: Path, records: dict[str, list[_Place]]) -> None:
        lengths = {name: max(part.end for part in parts) for name, parts in records.items()}
        ordered = [(name, part) for name in sorted(records) for part in sorted(records[name])]
        folder.mkdir(parents=True, exist_ok=True)
        for i, column in enumerate(WINDOWS):
            path = folder / f"{NAMES.get(column, column)}.bw"
            if column == "bits" and any(part.bases >= 0 for _, part in ordered):
                write_bigwig(path, lengths, self._stretches(ordered))
            else:
                write_runs(path, lengths, self._runs(ordered, i))
        if not any(folder.iterdir()):
            folder.rmdir()  # none has a base

    def _runs(self, ordered: Sequence[tuple[str, _Place]], column: int) -> Iterator[Runs]:
        size = 4 * len(WINDOWS)
        for name, part in ordered:
            last = -(-(part.end - part.origin) // part.width)
            for first in range((part.start - part.origin) // part.width, last, BLOCK):
                number = min(BLOCK, last - first)
                self._windows.seek((part.first + first) * size)
                table = np.frombuffer(self._windows.read(number * size), np.float32).reshape(number, -1)
                start = part.origin + part.width * np.arange(first, first + number)
                end = np.minimum(start + part.width, part.end)
                yield Runs(name, np.maximum(start, part.start), end, table[:, column])

    def _stretches(self, ordered: Sequence[tuple[str, _Place]]) -> Iterator[Stretch]:
        for name, part in ordered:
            for start in range(part.start, part.end, BLOCK):
                number = min(BLOCK, part.end - start)
                self._bases.seek(4 * (part.bases + start - part.origin))
                yield name, start, np.frombuffer(self._bases.read(4 * number), np.float32)


def _unfit(name: str, other: bool, end: int) -> str | None:
    """Why a record that ends there has no track; `other`: another one has its name."""
    if not name:
        return "without a name"
    if other:
        return "whose name another one had before"
    return f"longer than {LONGEST:,} bases, which bigWig cannot hold" if end > LONGEST else None
