"""A run of `annotate --genes`: the genes of a file, as GFF3, BED, proteins and a row a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from longseq.config import require
from longseq.formats.genetic_code import genetic_code
from longseq.log import Progress
from longseq.records import Record
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.streaming.classes import Classified, ClassReader
from longseq.tasks.annotate.finder import GeneFinder, surrounded
from longseq.tasks.annotate.frames import columns
from longseq.tasks.annotate.gene_sheets import WHAT, Heading, write
from longseq.tasks.annotate.names import Names
from longseq.tasks.annotate.reading import DIGEST, FileRequest, Held, Kept, read_records, whole
from longseq.tasks.annotate.work import Row, working
from longseq.tasks.sources import Source, require_some

LEAST = 30
"""Bases: a shorter gene cannot be told from chance, and there would be one everywhere."""


@dataclass(frozen=True, kw_only=True)
class GeneRequest(FileRequest):
    """What is wanted of a file."""

    code: int = 11
    """Genetic code, by NCBI's number."""
    shortest: int = 90
    """Bases of the shortest gene, the stop codon included."""
    mixed: bool = False
    """The records are not of one genome: none learns from the genes of another."""
    options: ClassVar[dict[str, str]] = {"code": "genetic_code", "shortest": "min_gene"}

    def __post_init__(self):
        super().__post_init__()
        require(self.shortest >= LEAST, "min-gene", self.shortest, f">= {LEAST} bases")
        genetic_code(self.code)


def predict_genes(
    request: GeneRequest,
    reader: ClassReader,
    out: str | Path,
    *,
    provenance: Callable[[SourceRow], Run],
    resume: bool = False,
    force: bool = False,
    progress: Progress,
) -> tuple[SourceRow, int]:
    """Find the genes of all records of a file, into the directory `out`; the file as it was read, and their number.

    In memory: the letters of one record, its open reading frames and their starts. On disk: 13 bytes a base of the
    file, in a hidden folder beside `out` from which a run that was stopped or killed goes on, with `resume`, behind the
    last record that the model had read; and 48 more of the record at hand.

    Raises:
        CheckpointError: a model that does not tell the positions in codons.
        InputError: the file cannot be read, or none of its records; where some can, their errors are in the row.
        OutputExistsError, UsageError, StateError, StoppedError: as `working` does.
        LongseqError: a disk takes no more.
    """
    heading = heading_of(request, reader)
    source = Source(request.source, wanted_digest=heading.settings[DIGEST])
    columns(reader.labels, reader.checkpoint.name)
    with working(out, heading.settings, resume=resume, force=force) as work:
        spools = work.spool("letters", 1, np.uint8), work.spool("odds", 6, np.float16)
        with GeneFinder(reader, genetic_code(request.code), shortest=request.shortest, spools=spools) as finder:
            for before in filter(None, work.rows):
                finder.recall(before.name, before.length, start=before.start, circular=before.circular)
            read(request, reader, source, work, Names(WHAT).give, finder, progress)
            require_some([source], reader.checkpoint)
            rows = [row for row in work.rows if row is not None]
            found = source.row()
            number = write(heading, rows, finder, out, found, provenance(found), force=force, pause=work.give_way)
    return found, number


def heading_of(request: GeneRequest, reader: ClassReader) -> Heading:
    """Of what a reader was asked for."""
    return Heading(
        settings=request.settings(reader),
        chunk=reader.chunk,
        code=request.code,
        shortest=request.shortest,
        mixed=request.mixed,
        regions=request.places(),
    )


def read(
    request: GeneRequest,
    reader: ClassReader,
    source: Source,
    kept: Kept,
    name: Callable[[Record], str],
    finder: GeneFinder,
    progress: Progress,
) -> None:
    """Have a finder take all records, as `read_records` does."""

    def take(row: Row, held: Held, parts: Iterator[Classified]) -> Iterator[int]:
        return finder.take(row.name, held.letters, parts, start=row.start, circular=row.circular)

    read_records(request, reader, source, kept, name, _text, take, progress)


def _text(held: Held) -> Iterator[bytes]:
    held.letters = b"".join(whole(held.record))
    yield from surrounded(held.letters, held.circular)
