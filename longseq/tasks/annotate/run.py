"""A run of `annotate`: the records of a file, their class probabilities, intervals and tracks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from longseq.log import Progress
from longseq.records import Record
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.streaming.classes import Classified, ClassReader
from longseq.tasks.annotate.calls import Caller
from longseq.tasks.annotate.names import Names
from longseq.tasks.annotate.reading import DIGEST, FileRequest, Held, Kept, Spool, read_records, whole
from longseq.tasks.annotate.tracks import WHAT, Heading, write
from longseq.tasks.annotate.work import Row, working
from longseq.tasks.sources import Source, require_some


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
    heading = heading_of(request, reader)
    source = Source(request.source, wanted_digest=heading.settings[DIGEST])
    with working(out, heading.settings, resume=resume, force=force) as work:
        spool = work.spool("probabilities", len(reader.labels), np.float32)
        read(request, reader, source, work, Names(WHAT).give, spool, work.length, progress)
        require_some([source], reader.checkpoint)
        rows = [row for row in work.rows if row is not None]
        found = source.row()
        number = write(heading, rows, spool, out, found, provenance(found), force=force, pause=work.give_way)
    return found, number


def heading_of(request: Request, reader: ClassReader) -> Heading:
    """Of what a reader was asked for."""
    return Heading(
        labels=reader.labels,
        settings=request.settings(reader),
        chunk=reader.chunk,
        shortest=request.shortest,
        threshold=request.threshold,
        regions=request.places(),
    )


def read(
    request: Request,
    reader: ClassReader,
    source: Source,
    kept: Kept,
    name: Callable[[Record], str],
    spool: Spool,
    first: int,
    progress: Progress,
) -> None:
    """Put the probabilities of all records into a spool, from row `first` on, NaN over N; as `read_records` does."""
    n = reader.tokenizer.alphabet.letters.index(b"N")

    def take(row: Row, held: Held, parts: Iterator[Classified]) -> Iterator[int]:
        nonlocal first
        at = first
        for ids, probabilities in parts:
            spool.write(at, np.where((ids != n)[:, None], probabilities, np.float32(np.nan)))
            at += len(ids)
            yield len(ids)
        first = at

    read_records(request, reader, source, kept, name, lambda held: whole(held.record), take, progress)
