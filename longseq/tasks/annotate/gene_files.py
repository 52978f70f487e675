"""Genes as files: GFF3, BED and the proteins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from longseq.formats.bed import BedWriter
from longseq.formats.cells import cell
from longseq.formats.genetic_code import GeneticCode
from longseq.formats.gff3 import Gff3Writer
from longseq.records import Interval, reverse_complement
from longseq.tasks.annotate.genes import Gene

LINE = 60
"""Letters of a protein a line."""


def gene_id(record: str, number: int) -> str:
    """Name of a record's gene, `number` from 1 in order of starts."""
    return f"{record}_{number}"


def gene_letters(letters: bytes, gene: Gene) -> bytes:
    """A gene's letters in reading direction, from those of its record; one across the origin goes on from there."""
    around = letters + letters[: max(gene.end - len(letters), 0)]
    found = around[gene.start : gene.end]
    return found if gene.strand == "+" else reverse_complement(found)


def write_gff3(writer: Gff3Writer, record: str, genes: Iterable[Gene], code: GeneticCode, *, first: int = 1) -> None:
    """A CDS for each gene, the stop codon included, numbered from `first`.

    One across the origin ends behind its record. Genes that leave the record are `partial=true`, with an open
    `start_range` or `end_range` as NCBI writes them. All are cut to whole codons, so that the phase is 0.
    """
    for number, gene in enumerate(genes, first):
        attributes = {"ID": gene_id(record, number), "transl_table": str(code.number)}
        if gene.open_begin or gene.open_end:
            attributes["partial"] = "true"
        left, right = (gene.open_begin, gene.open_end)[:: 1 if gene.strand == "+" else -1]
        # The commas separate values of one attribute, and are not escaped.
        ranges = {"start_range": (".", str(gene.start + 1))} if left else {}
        ranges |= {"end_range": (str(gene.end), ".")} if right else {}
        writer.write(_interval(record, gene), "CDS", score=gene.score, phase=0, attributes=attributes, several=ranges)


def write_bed(
    writer: BedWriter,
    record: str,
    length: int,
    genes: Iterable[Gene],
    probabilities: Iterable[float],
    *,
    first: int = 1,
) -> None:
    """A line for each gene with its probability, in column 7 and times 1000 as score; across the origin two lines."""
    for number, (gene, probability) in enumerate(zip(genes, probabilities, strict=True), first):
        name = f"CDS_{gene_id(record, number)}"
        whole = _interval(record, gene)
        parts = [(gene.start, min(gene.end, length)), (0, max(gene.end - length, 0))]
        for start, end in parts:
            if start < end:
                part = Interval(record=record, start=start, end=end, strand=whole.strand)
                writer.write(part, name, round(1000 * probability), (round(probability, 6),))


def write_proteins(
    file: TextIO,
    record: str,
    letters: bytes,
    genes: Iterable[Gene],
    code: GeneticCode,
    *,
    start: int = 0,
    first: int = 1,
) -> None:
    """FASTA of the proteins, without their stops: `>ID RECORD:START-END(STRAND)`, 1-based and closed.

    Genes are placed in `letters`, which begin at `start` of the record.
    """
    name = cell(record)
    for number, gene in enumerate(genes, first):
        protein = code.translate(gene_letters(letters, gene), starts=not gene.open_begin)
        partial = " partial" if gene.open_begin or gene.open_end else ""
        file.write(
            f">{gene_id(name, number)} {name}:{start + gene.start + 1}-{start + gene.end}({gene.strand}){partial}\n"
        )
        for at in range(0, len(protein), LINE):
            file.write(protein[at : at + LINE] + "\n")


def _interval(record: str, gene: Gene) -> Interval:
    return Interval(record=record, start=gene.start, end=gene.end, strand=gene.strand)
