"""A run of `annotate`: the records of a file, their class probabilities, intervals and tracks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longseq.errors import InputError
from longseq.formats.atomic import output_directory
from longseq.formats.jsonfile import write_json
from longseq.log import Progress
from longseq.records import Record
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.streaming.class_lanes import classified
from longseq.streaming.classes import Classified, ClassReader
from longseq.streaming.rows import RowSpool
from longseq.tasks.annotate.calls import BACKGROUND, Caller
from longseq.tasks.annotate.files import FILES, Placed, Sheets, write_tracks
from longseq.tasks.annotate.names import Names, require_apart
from longseq.tasks.places import walk
from longseq.tasks.sources import Asked, Source, require_some, warn_of_clipping

SCHEMA = "longseq.annotation/1"


@dataclass(frozen=True, kw_only=True)
class Request(Asked):
    """What is wanted of a file."""

    source: str
    """`-` is standard input."""
    shortest: int = 1
    """Bases of the shortest interval."""
    threshold: float = 0.0
    """Least mean probability of an interval."""

    def __post_init__(self):
        require_apart(self.regions)
        Caller(shortest=self.shortest, threshold=self.threshold)


def annotate(
    request: Request,
    reader: ClassReader,
    out: str | Path,
    *,
    provenance: Callable[[SourceRow], Run],
    force: bool = False,
    progress: Progress,
) -> tuple[SourceRow, int]:
    """Annotate all records of a file into the directory `out`; the file as it was read, and the number of intervals.

    Memory does not grow with a record; the probabilities wait on disk for the tracks, 4 C bytes a base.

    Raises:
        InputError: the file cannot be read, or none of its records; where some can, their errors are in the row.
        OutputExistsError, UsageError: `out` cannot be written.
        LongseqError: a disk takes no more.
    """
    width = len(reader.labels)
    with output_directory(out, force=force, replaces=FILES) as folder, RowSpool(width, np.float32) as spool:
        with Sheets(folder, reader.labels) as sheets:
            work = _Work(request, reader, sheets, spool, progress)
            row = work.run()
        tracks = write_tracks(folder / "tracks", reader.labels, work.placed, spool)
        facts = {
            "schema": SCHEMA,
            "run": provenance(row).to_json(),
            "file": row.to_json(),
            "classes": [{"name": label, "track": tracks.get(label)} for label in reader.labels],
            "background": reader.labels[BACKGROUND],
            "chunk": reader.chunk,
            "min_length": request.shortest,
            "threshold": request.threshold,
            "regions": request.places(),
            "intervals": sheets.intervals,
        }
        write_json(folder / "annotation.json", facts)
    return row, sheets.intervals


class _Work:
    """One file, record by record."""

    def __init__(self, request: Request, reader: ClassReader, sheets: Sheets, spool: RowSpool, progress: Progress):
        self._request, self._reader, self._sheets = request, reader, sheets
        self._spool, self._progress = spool, progress
        self._n = reader.tokenizer.alphabet.letters.index(b"N")
        self._names = Names("tracks")
        self.placed: dict[str, list[Placed]] = {}
        self._rows = 0
        """Of the spool so far."""

    def run(self) -> SourceRow:
        source = Source(self._request.source)
        self._progress.start("annotate", None, "base")
        try:
            for record, parts in classified(self._reader, self._records(source)):
                try:
                    source.length += self._record(record, parts)
                except InputError as error:
                    source.fail(error)
                else:
                    source.records += 1
                    source.truncated |= record.truncated
        finally:
            self._progress.finish()
        require_some([source], self._reader.checkpoint)
        return source.row()

    def _records(self, source: Source) -> Iterator[tuple[Record, Iterator[bytes]]]:
        """All records, each with its letters."""
        for _, record in walk([source], self._reader.checkpoint, self._request):
            yield record, _letters(record)

    def _record(self, record: Record, parts: Iterator[Classified]) -> int:
        """Annotate one; its length. An error in its letters comes before anything of it is written."""
        head = list(itertools.islice(parts, 1))  # both passes wait for the last letter: the length is known
        name, start = self._names.give(record), int(record.notes.get("offset", 0))
        circular = not self._request.regions and record.topology == "circular"
        caller = Caller(shortest=self._request.shortest, threshold=self._request.threshold, circular=circular)
        classes = len(self._reader.labels)
        bases, sums = np.zeros(classes, np.int64), np.zeros(classes)
        first, unknown, before = self._rows, 0, self._sheets.intervals
        if head:
            end = start + (record.length or 0)
            self._sheets.begin(name, start, end, circular=circular, alone=len(self._request.regions) < 2)
        for ids, probabilities in itertools.chain(head, parts):
            known = ids != self._n
            for call in caller.add(probabilities, known):
                self._sheets.interval(name, call.moved(start))
            bases += np.bincount(probabilities[known].argmax(1), minlength=classes)
            sums += probabilities[known].sum(0, dtype=np.float64)
            unknown += int(np.count_nonzero(~known))
            self._spool.write(self._rows, np.where(known[:, None], probabilities, np.float32(np.nan)))
            self._rows += len(ids)
            self._progress.advance(len(ids))
        for call in caller.finish():
            self._sheets.interval(name, call.moved(start))
        length = self._rows - first
        self.placed.setdefault(name, []).append(Placed(first, length, start))
        facts = {
            "file": record.source,
            "record": name,
            "start": start,
            "end": start + length,
            "length": length,
            "unknown": unknown,
            "truncated": record.truncated,
            "intervals": self._sheets.intervals - before,
        }
        self._sheets.row(facts, bases, sums)
        return length


def _letters(record: Record) -> Iterator[bytes]:
    length = 0
    for piece in record.pieces:
        assert isinstance(piece, bytes)
        length += len(piece)
        yield piece
    record.length = length
    warn_of_clipping(record)
