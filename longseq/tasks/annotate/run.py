"""A run of `annotate`: the records of a file, their class probabilities, intervals and tracks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from longseq.formats.atomic import output_directory
from longseq.formats.jsonfile import write_json
from longseq.log import Progress
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.streaming.classes import Classified, ClassReader
from longseq.streaming.rows import RowSpool
from longseq.tasks.annotate.calls import BACKGROUND, Caller
from longseq.tasks.annotate.files import BLOCK, FILES, Placed, Sheets, write_tracks
from longseq.tasks.annotate.reading import FileRequest, Held, read_records, whole
from longseq.tasks.annotate.work import Row, Work, working

SCHEMA = "longseq.annotation/1"


@dataclass(frozen=True, kw_only=True)
class Request(FileRequest):
    """What is wanted of a file."""

    shortest: int = 1
    """Bases of the shortest interval."""
    threshold: float = 0.0
    """Least mean probability of an interval."""
    options: ClassVar[dict[str, str]] = {"shortest": "min_length"}

    def __post_init__(self):
        super().__post_init__()
        Caller(shortest=self.shortest, threshold=self.threshold)


def annotate(
    request: Request,
    reader: ClassReader,
    out: str | Path,
    *,
    provenance: Callable[[SourceRow], Run],
    resume: bool = False,
    force: bool = False,
    progress: Progress,
) -> tuple[SourceRow, int]:
    """Annotate all records of a file into the directory `out`; the file as it was read, and the number of intervals.

    Memory does not grow with a record; the probabilities wait in a hidden folder beside `out`, 4 C bytes a base, from
    which a run that was stopped or killed goes on, with `resume`, behind the last record that it had finished.

    Raises:
        InputError: the file cannot be read, or none of its records; where some can, their errors are in the row.
        OutputExistsError, UsageError, StateError, StoppedError: as `working` does.
        LongseqError: a disk takes no more.
    """
    settings = request.settings(reader)
    with working(out, settings, resume=resume, force=force) as work:
        spool = work.spool("probabilities", len(reader.labels), np.float32)
        first = work.length
        n = reader.tokenizer.alphabet.letters.index(b"N")

        def take(row: Row, held: Held, parts: Iterator[Classified]) -> Iterator[int]:
            nonlocal first
            at = first
            for ids, probabilities in parts:
                spool.write(at, np.where((ids != n)[:, None], probabilities, np.float32(np.nan)))
                at += len(ids)
                yield len(ids)
            first = at

        source = read_records(request, reader, work, "tracks", lambda held: whole(held.record), take, progress)
        found = source.row()
        with output_directory(out, force=force, replaces=FILES) as folder:
            with Sheets(folder, reader.labels) as sheets:
                placed = _write(request, work, sheets, spool)
            tracks = write_tracks(folder / "tracks", reader.labels, placed, spool)
            facts = {
                "schema": SCHEMA,
                "run": provenance(found).to_json(),
                "settings": settings,
                "file": found.to_json(),
                "classes": [{"name": label, "track": tracks.get(label)} for label in reader.labels],
                "background": reader.labels[BACKGROUND],
                "chunk": reader.chunk,
                "min_length": request.shortest,
                "threshold": request.threshold,
                "regions": request.places(),
                "intervals": sheets.intervals,
            }
            write_json(folder / "annotation.json", facts)
    return found, sheets.intervals


def _write(request: Request, work: Work, sheets: Sheets, spool: RowSpool) -> dict[str, list[Placed]]:
    """Intervals and rows of all records, from what the spool holds of them; where they lie in it."""
    placed, first = dict[str, list[Placed]](), 0
    for row in filter(None, work.rows):
        placed.setdefault(row.name, []).append(Placed(first, row.length, row.start))
        _record(request, row, first, sheets, spool)
        work.give_way()
        first += row.length
    return placed


def _record(request: Request, row: Row, first: int, sheets: Sheets, spool: RowSpool) -> None:
    caller = Caller(shortest=request.shortest, threshold=request.threshold, circular=row.circular)
    bases, sums = np.zeros(spool.width, np.int64), np.zeros(spool.width)
    unknown, before = 0, sheets.intervals
    if row.length:
        alone = len(request.regions) < 2
        sheets.begin(row.name, row.start, row.start + row.length, circular=row.circular, alone=alone)
    for start in range(first, first + row.length, BLOCK):
        probabilities = spool.read(start, min(start + BLOCK, first + row.length))
        known = ~np.isnan(probabilities[:, 0])
        for call in caller.add(probabilities, known):
            sheets.interval(row.name, call.moved(row.start))
        bases += np.bincount(probabilities[known].argmax(1), minlength=spool.width)
        sums += probabilities[known].sum(0, dtype=np.float64)
        unknown += int(np.count_nonzero(~known))
    for call in caller.finish():
        sheets.interval(row.name, call.moved(row.start))
    facts = {
        "file": row.file,
        "record": row.name,
        "start": row.start,
        "end": row.start + row.length,
        "length": row.length,
        "unknown": unknown,
        "truncated": row.truncated,
        "intervals": sheets.intervals - before,
    }
    sheets.row(facts, bases, sums)
