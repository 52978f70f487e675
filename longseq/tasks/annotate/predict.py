"""A run of `annotate --genes`: the genes of a file, as GFF3, BED, proteins and a row a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TextIO

import numpy as np

from longseq.config import require
from longseq.formats.atomic import output_directory
from longseq.formats.bed import BedWriter
from longseq.formats.genetic_code import GeneticCode, genetic_code
from longseq.formats.gff3 import Gff3Writer
from longseq.formats.jsonfile import write_json
from longseq.formats.tsv import TsvWriter
from longseq.log import Progress
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.streaming.classes import Classified, ClassReader
from longseq.tasks.annotate.finder import Found, GeneFinder, surrounded
from longseq.tasks.annotate.frames import columns
from longseq.tasks.annotate.gene_files import write_bed, write_gff3, write_proteins
from longseq.tasks.annotate.reading import FileRequest, Held, read_records, whole
from longseq.tasks.annotate.work import Row, working

SCHEMA = "longseq.genes/1"
FILES = ("genes.gff3", "genes.bed", "proteins.faa", "records.tsv", "genes.json")
"""What an output directory may hold of an earlier run."""
LEAST = 30
"""Bases: a shorter gene cannot be told from chance, and there would be one everywhere."""
COLUMNS = ("file", "record", "start", "end", "length", "circular", "truncated", "genes", "partial", "coding")


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
    code, number, settings = genetic_code(request.code), 0, request.settings(reader)
    columns(reader.labels, reader.checkpoint.name)
    with (
        working(out, settings, resume=resume, force=force) as work,
        GeneFinder(
            reader,
            code,
            shortest=request.shortest,
            spools=(work.spool("letters", 1, np.uint8), work.spool("odds", 6, np.float16)),
        ) as finder,
    ):
        for before in filter(None, work.rows):
            finder.recall(before.name, before.length, start=before.start, circular=before.circular)

        def take(row: Row, held: Held, parts: Iterator[Classified]) -> Iterator[int]:
            return finder.take(row.name, held.letters, parts, start=row.start, circular=row.circular)

        read = read_records(request, reader, work, "genes", _text, take, progress).row()
        records = [one for one in work.rows if one is not None]
        with output_directory(out, force=force, replaces=FILES) as folder:
            with GeneSheets(folder, code) as sheets:
                for found, record in zip(finder.find(mixed=request.mixed), records, strict=True):
                    sheets.add(found, record, alone=len(request.regions) < 2)
                    number += len(found.genes)
                    work.give_way()
            facts = {
                "schema": SCHEMA,
                "run": provenance(read).to_json(),
                "settings": settings,
                "file": read.to_json(),
                "genetic_code": request.code,
                "min_gene": request.shortest,
                "mixed": request.mixed,
                "regions": request.places(),
                "learned_from_own_genes": finder.learned,
                "chunk": reader.chunk,
                "genes": number,
            }
            write_json(folder / "genes.json", facts)
    return read, number


def _text(held: Held) -> Iterator[bytes]:
    held.letters = b"".join(whole(held.record))
    yield from surrounded(held.letters, held.circular)


class GeneSheets:
    """genes.gff3, genes.bed, proteins.faa and records.tsv, written record by record."""

    def __init__(self, folder: Path, code: GeneticCode):
        self._stack, self._code = ExitStack(), code

        def opened(name: str) -> TextIO:
            file = open(folder / name, "w", encoding="utf-8", errors="backslashreplace", newline="\n")  # noqa: SIM115
            return self._stack.enter_context(file)

        self._gff, self._bed = Gff3Writer(opened("genes.gff3")), BedWriter(opened("genes.bed"))
        self._proteins, self._table = opened("proteins.faa"), TsvWriter(opened("records.tsv"), COLUMNS)
        self._given: Counter[str] = Counter()
        """Genes of each record so far, by which those of another stretch of it are numbered on."""

    def __enter__(self) -> GeneSheets:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, found: Found, record: Row, *, alone: bool = True) -> None:
        """The genes of one record; of one of several stretches GFF3 does not announce where it lies."""
        end, code = found.start + len(found.letters), self._code
        placed = [gene._replace(start=gene.start + found.start, end=gene.end + found.start) for gene in found.genes]
        if alone:
            self._gff.record(found.name, end, start=found.start, circular=found.circular)
        first = self._given[found.name] + 1
        self._given[found.name] += len(placed)
        write_gff3(self._gff, found.name, placed, code, first=first)
        write_bed(self._bed, found.name, end, placed, found.probabilities, first=first)
        write_proteins(self._proteins, found.name, found.letters, found.genes, code, start=found.start, first=first)
        self._table.write(
            {
                "file": record.file,
                "record": found.name,
                "start": found.start,
                "end": end,
                "length": len(found.letters),
                "circular": found.circular,
                "truncated": record.truncated,
                "genes": len(placed),
                "partial": sum(gene.open_begin or gene.open_end for gene in placed),
                "coding": covered(found),
            }
        )


def covered(found: Found) -> int:
    """Bases of a record that lie in any gene."""
    total = at = 0
    length = len(found.letters)
    pieces = [(gene.start, min(gene.end, length)) for gene in found.genes]
    pieces += [(0, gene.end - length) for gene in found.genes if gene.end > length]
    for start, end in sorted(pieces):
        total += max(end - max(start, at), 0)
        at = max(at, end)
    return total
