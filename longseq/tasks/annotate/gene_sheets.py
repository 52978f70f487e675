"""What a run of `annotate --genes` leaves: features, proteins, a row a record, and what made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from longseq.formats.atomic import output_directory
from longseq.formats.bed import BedWriter
from longseq.formats.genetic_code import GeneticCode, genetic_code
from longseq.formats.gff3 import Gff3Writer
from longseq.formats.jsonfile import write_json
from longseq.formats.tsv import TsvWriter
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.tasks.annotate.finder import Found, GeneChooser
from longseq.tasks.annotate.gene_files import write_bed, write_gff3, write_proteins
from longseq.tasks.annotate.work import Row

SCHEMA = "longseq.genes/1"
WHAT = "genes"
"""They go by name."""
FILES = ("genes.gff3", "genes.bed", "proteins.faa", "records.tsv", "genes.json")
"""What an output directory may hold of an earlier run."""
COLUMNS = ("file", "record", "start", "end", "length", "circular", "truncated", "genes", "partial", "coding")


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What a result says of its request."""

    settings: dict[str, Any]
    """All that it depends on."""
    chunk: int
    code: int
    """Genetic code, by NCBI's number."""
    shortest: int
    """Bases of the shortest gene, the stop codon included."""
    mixed: bool
    """The records are not of one genome."""
    regions: list[list[Any]]


def write(
    heading: Heading,
    rows: Iterable[Row],
    chooser: GeneChooser,
    out: str | Path,
    source: SourceRow,
    run: Run,
    *,
    force: bool,
    pause: Callable[[], None] = lambda: None,
) -> int:
    """Write the directory `out` of records that a chooser knows, in order; the number of genes. `pause` is called after
    each record."""
    number = 0
    with output_directory(out, force=force, replaces=FILES) as folder:
        with GeneSheets(folder, genetic_code(heading.code)) as sheets:
            for found, row in zip(chooser.find(mixed=heading.mixed), rows, strict=True):
                sheets.add(found, row, alone=len(heading.regions) < 2)
                number += len(found.genes)
                pause()
        facts = {
            "schema": SCHEMA,
            "run": run.to_json(),
            "settings": heading.settings,
            "file": source.to_json(),
            "genetic_code": heading.code,
            "min_gene": heading.shortest,
            "mixed": heading.mixed,
            "regions": heading.regions,
            "learned_from_own_genes": chooser.learned,
            "chunk": heading.chunk,
            "genes": number,
        }
        write_json(folder / "genes.json", facts)
    return number


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
