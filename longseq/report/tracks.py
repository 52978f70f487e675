"""`tracks/*.bw`: figures of windows along records as bigWig, for genome browsers."""

from __future__ import annotations

import logging
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

import numpy as np

from longseq.errors import place
from longseq.formats.bigwig import LONGEST, LONGEST_NAME, OVERLAP, Covered, Runs, Stretch, write_bigwig, write_runs
from longseq.log import count
from longseq.report.input_folders import InputFolders
from longseq.results.dna import RecordSummary, WindowColumns
from longseq.results.document import DocumentSummary

log = logging.getLogger("longseq")

WINDOWS = ("gc", "gc_skew", "at_skew", "entropy", "cpg", "low_complexity", "softmask", "bits")
"""Columns of windows that have a track each, of the same name; that of `bits` is `bits_per_base`."""
NAMES = {"bits": "bits_per_base"}
HELD = 1 << 11
"""Windows gathered before they are spooled: record by record they cost more than measuring them."""
BLOCK = 1 << 14
"""Values read back at once."""


class _Place(NamedTuple):
    """Bases `[start, end)` of a record that are shown, and where the windows that cover them are spooled."""

    record: int
    """Number of its name among those of the input."""
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


_ROW = np.dtype([("record", "<i8"), ("start", "<i8"), ("end", "<i8"), ("figures", "<f4", (len(WINDOWS),))])
"""Of a window in the order in which a bigWig wants it; `record` is the place of its name in order."""


class _Input:
    """What is known of one input, in a few numbers a record: there may be one for each read."""

    def __init__(self, file: str):
        self.file = file
        self.names: dict[str, int] = {}
        """Numbers, in the order in which they came; of one record each."""
        self._indices = array("q")
        """Position of that record in its file."""
        self._reached = array("q")
        """End of its part that reaches farthest."""
        self._places = array("q")
        self._taken: dict[int, Covered] = {}
        """Of the records whose parts are not in order."""
        self.left_out: Counter[str] = Counter()
        """Records without a track, by the reason."""
        self.overlap = False
        """Parts of one record overlap."""

    def other(self, name: str, index: int) -> bool:
        """Whether another record than the one at that position has the name."""
        number = self.names.get(name)
        return number is not None and self._indices[number] != index

    def free(self, name: str, start: int, end: int) -> list[tuple[int, int]]:
        """What no part of the record that came before covers of `[start, end)`."""
        number = self.names.get(name)
        if number is None:
            return [(start, end)]
        taken = self._taken.get(number)
        if taken is None:
            if start >= self._reached[number]:  # parts in order, of which there may be many thousands
                return [(start, end)]
            taken, places = self._taken.setdefault(number, Covered()), self.places()
            for before in places[places[:, 0] == number, 1:3].tolist():
                taken.take(*before)
        free = taken.take(start, end)
        self.overlap |= free != [(start, end)]
        return free

    def add(self, name: str, index: int, spans: list[tuple[int, int]], *rest: int) -> None:
        """Stretches of a record of that name; `rest` is what `_Place` says besides."""
        number = self.names.setdefault(name, len(self._indices))
        if number == len(self._indices):
            self._indices.append(index)
            self._reached.append(0)
        for start, end in spans:
            self._reached[number] = max(self._reached[number], end)
            self._places.extend((number, start, end, *rest))

    def places(self) -> np.ndarray:
        """(P, fields of `_Place`), while no place is added."""
        return np.frombuffer(self._places, np.int64).reshape(-1, len(_Place._fields))

    def handed_over(self) -> tuple[list[str], np.ndarray]:
        """The names in order, and the places (P, fields of `_Place`) by their name's place among them and by start.
        Nothing of either is left here, since writing takes as much again."""
        names, places = sorted(self.names), self.places().copy()
        numbers, self.names, self._places = self.names, {}, array("q")
        ranks = np.empty(len(names), np.int64)
        for rank, name in enumerate(names):
            ranks[numbers[name]] = rank
        del numbers
        places[:, 0] = ranks[places[:, 0]]
        return names, places[np.lexsort((places[:, 1], places[:, 0]))]


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
        self._held: list[WindowColumns] = []
        self._held_size = self._measured = self._at = 0

    def __enter__(self) -> Tracks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._windows.close()
        self._bases.close()

    def dna(self, summary: RecordSummary) -> None:
        row, windows = summary.row, summary.windows
        if windows is None or not len(windows) or row.expected_errors is not None:
            return
        known, end = self._inputs.get(summary.source), row.start + row.length
        if known is None:
            known = self._inputs[summary.source] = _Input(row.file)
        if reason := _unfit(row.id, known.other(row.id, row.index), end):
            known.left_out[reason] += 1
            return
        free = known.free(row.id, row.start, end)
        if not free:
            return
        bases = -1
        if summary.base_bits is not None:
            bases = self._at
            for bits in summary.base_bits():
                self._bases.write(bits.astype(np.float32).tobytes())
                self._at += len(bits)
        width = int(windows.end[0] - windows.start[0])
        known.add(row.id, row.index, free, width, row.start, self._measured, bases)
        self._measured += len(windows)
        self._held.append(windows)
        self._held_size += len(windows)
        if self._held_size >= HELD:
            self._spool()

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no tracks."""

    def _spool(self) -> None:
        table = np.empty((self._held_size, len(WINDOWS)), np.float32)
        for i, name in enumerate(WINDOWS if self._held else ()):
            np.concatenate([getattr(windows, name) for windows in self._held], out=table[:, i])
        self._windows.write(table.tobytes())
        self._held, self._held_size = [], 0

    def write(self, folders: InputFolders) -> None:
        """The tracks there is a value for, and a warning of each record that has none because of its name or length."""
        self._spool()
        for source, known in self._inputs.items():
            for reason, number in known.left_out.items():
                log.warning("%s: no track of %s %s", place(known.file), count(number, "record"), reason)
            if known.overlap:
                log.warning(OVERLAP, place(known.file))
            if known.names:
                self._write(folders.tracks(source), known)

    def _write(self, folder: Path, known: _Input) -> None:
        names, places = known.handed_over()
        lengths = np.zeros(len(names), np.int64)
        np.maximum.at(lengths, places[:, 0], places[:, 2])
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile() as ordered:
            for rows in self._ordered(places):
                ordered.write(rows.tobytes())
            for i, column in enumerate(WINDOWS):
                path = folder / f"{NAMES.get(column, column)}.bw"
                if column == "bits" and (places[:, -1] >= 0).any():
                    write_bigwig(path, dict(zip(names, lengths.tolist(), strict=True)), self._stretches(names, places))
                else:
                    write_runs(path, names, lengths.tolist(), _runs(ordered, i))
        if not any(folder.iterdir()):
            folder.rmdir()  # none has a base

    def _ordered(self, places: np.ndarray) -> Iterator[np.ndarray]:
        """Windows of places in order, some at a time."""
        record, begin, end, width, origin, spooled, _ = places.T
        skipped = (begin - origin) // width
        ends = np.cumsum(-(-(end - origin) // width) - skipped)
        for first in range(0, int(ends[-1]), BLOCK):
            window = np.arange(first, min(first + BLOCK, int(ends[-1])))
            at = np.searchsorted(ends, window, "right")
            number = window - ends[at]  # from the end of its place on, below 0
            last_start = origin[at] + width[at] * ((end[at] - origin[at] - 1) // width[at])
            start = last_start + width[at] * (number + 1)
            rows = np.empty(len(window), _ROW)
            rows["record"], rows["start"] = record[at], np.maximum(start, begin[at])
            rows["end"] = np.minimum(start + width[at], end[at])
            rows["figures"] = self._read(spooled[at] + (start - origin[at]) // width[at])
            yield rows

    def _read(self, numbers: np.ndarray) -> np.ndarray:
        """Figures of windows (N,) by their numbers in the spool."""
        size = 4 * len(WINDOWS)
        breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
        data = bytearray()
        for first, number in zip(
            numbers[np.append(0, breaks)].tolist(),
            np.diff(breaks, prepend=0, append=len(numbers)).tolist(),
            strict=True,
        ):
            self._windows.seek(first * size)
            data += self._windows.read(number * size)
        return np.frombuffer(data, np.float32).reshape(len(numbers), -1)

    def _stretches(self, names: list[str], places: np.ndarray) -> Iterator[Stretch]:
        for one in map(_Place._make, places.tolist()):
            for start in range(one.start, one.end, BLOCK):
                number = min(BLOCK, one.end - start)
                self._bases.seek(4 * (one.bases + start - one.origin))
                yield names[one.record], start, np.frombuffer(self._bases.read(4 * number), np.float32)


def _runs(ordered: IO[bytes], column: int) -> Iterator[Runs]:
    ordered.seek(0)
    while data := ordered.read(BLOCK * _ROW.itemsize):
        rows = np.frombuffer(data, _ROW)
        yield Runs(rows["record"], rows["start"], rows["end"], rows["figures"][:, column])


def _unfit(name: str, other: bool, end: int) -> str | None:
    """Why a record that ends there has no track; `other`: another one has its name."""
    if not name:
        return "without a name"
    if other:
        return "whose name another one had before"
    if len(name) > LONGEST_NAME:
        return f"of a name longer than {LONGEST_NAME} letters"
    return f"longer than {LONGEST:,} bases, which bigWig cannot hold" if end > LONGEST else None
