"""Annotated intervals of BED, GFF3, GTF and GenBank files: record, start, end, strand, and what is there.

BED is 0-based and half-open, its fourth column is the name (UCSC, "BED format"). GFF3 and GTF are 1-based and closed,
their third column is the type (Sequence Ontology, "Generic Feature Format Version 3"); escapes of GFF3 (`%3B`) are read
as what they stand for, and a `##FASTA` part is not read. A feature that crosses the origin of a circular record comes
in two: GenBank joins them, GFF3 gives them an end past that of a landmark with `Is_circular=true`, which stands above.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.containers import open_bytes
from longseq.formats.genbank_features import stretches
from longseq.formats.gff import COLUMNS, GffLine, gff_line
from longseq.formats.header import decode
from longseq.formats.known import document_name
from longseq.records import Interval, coordinate

Strand = Literal["+", "-", "."]
TOLD = (b"#", b"track ", b"browser ")
"""What a line of BED or GFF begins with that is of no interval; behind a tab the word would be a record's name."""
_SUFFIXES = (".bed", ".gff", ".gff3", ".gtf", ".gb", ".gbk", ".gbff")


class Feature(NamedTuple):
    line: int
    """1-based."""
    interval: Interval
    name: str
    """BED: the name, "." where there is none; GFF3 and GTF: the type; GenBank: the key."""
    codon: int | None = None
    """Position in its codon, 0 to 2, of the base that is read first, on `-` the last one; None where none is told."""
    pseudo: bool = False
    """It is said to be a pseudogene: `pseudo=true` or `pseudogene=…` in GFF3, `/pseudo` or `/pseudogene=…`."""
    partial: bool = False
    """It is said to go on where the record, or what is known of it, ends: `partial=true`, or `<` and `>`."""


def holds_intervals(name: str) -> bool:
    """Whether a file of labels is one of intervals, by its name."""
    return Path(document_name(name)).suffix.lower() in _SUFFIXES


def read_features(source: str | Path) -> Iterator[Feature]:
    """The intervals of a file, plain or packed, in its order. The first line that is one decides the format.

    Raises:
        InputError: a line that is no interval, a file without any, or one that ends early.
    """
    name, found = str(source), False
    stream = open_bytes(source)
    try:
        text, gff = Blocks(stream, READ_BLOCK), None
        ends: dict[str, int] = {}
        text.skip_mark()
        if stream.peek(6) == b"LOCUS ":
            for part in stretches(text):
                found = True
                interval = Interval(record=part.record, start=part.start, end=part.end, strand=part.strand)
                yield Feature(part.line, interval, part.key, part.codon, part.pseudo, part.partial)
        while (data := text.readline()) is not None:
            line = text.line - (1 if text.whole_line else 0)
            if data.startswith(b"##FASTA"):
                break
            if not data.strip() or data.startswith(TOLD) or data.strip() in (b"track", b"browser"):
                continue
            cells = [decode(cell).strip() for cell in (data.split(b"\t") if b"\t" in data else data.split())]
            gff = len(cells) in COLUMNS and coordinate(cells[2]) is None if gff is None else gff
            if gff:
                if len(cells) < min(COLUMNS):
                    raise InputError(where=place(name, line), expected="nine columns of GFF", found=str(len(cells)))
                columns = gff_line(cells)
                feature = _gff(columns, line, name)
                if columns.circular:
                    ends.setdefault(columns.record, feature.interval.end)
            else:
                feature = _bed(cells, line, name)
            yield from _unwound(feature, ends.get(feature.interval.record), name)
            found = True
        if stream.truncated:
            raise InputError("ends early", where=place(name), remedy="copy or download the file again")
    finally:
        stream.close()
    if not found:
        raise InputError(where=place(name), expected="intervals (BED, GFF3, GTF or GenBank)", found="none")


def _unwound(feature: Feature, end: int | None, source: str) -> Iterator[Feature]:
    """A feature in the parts that it has on a record that closes at `end`; None: it does not."""
    whole = feature.interval
    if end is None or whole.end <= end:
        yield feature
        return
    if whole.start >= end or len(whole) > end:
        raise InputError(
            where=place(source, feature.line),
            expected=f"a feature that begins on {whole.record} and runs around it once at most ({end:,} bases)",
            found=f"{whole.start + 1}, {whole.end}",
        )
    there, back, codon = end - whole.start, whole.end - end, feature.codon
    if codon is None:
        codons: tuple[int | None, int | None] = (None, None)
    else:
        codons = ((codon + back) % 3, codon) if whole.strand == "-" else (codon, (codon + there) % 3)
    yield feature._replace(interval=replace(whole, end=end), codon=codons[0])
    yield feature._replace(interval=replace(whole, start=0, end=back), codon=codons[1])


def _bed(cells: list[str], line: int, source: str) -> Feature:
    if len(cells) < 3:
        raise InputError(where=place(source, line), expected="record, start and end", found=f"{len(cells)} columns")
    interval = _interval(cells[0], cells[1], cells[2], 0, cells[5] if len(cells) > 5 else ".", line, source)
    return Feature(line, interval, cells[3] if len(cells) > 3 and cells[3] else ".")


def _gff(columns: GffLine, line: int, source: str) -> Feature:
    return Feature(
        line,
        _interval(columns.record, columns.start, columns.end, 1, columns.strand, line, source),
        columns.kind,
        # A phase is how many bases come before the next codon.
        -int(columns.phase) % 3 if columns.phase in ("0", "1", "2") else None,
        columns.says("pseudo", "true") or columns.says("pseudogene"),
        columns.says("partial", "true"),
    )


def _interval(record: str, start: str, end: str, first: int, strand: str, line: int, source: str) -> Interval:
    """`first` is the number of a record's first base: 0 half-open, 1 closed."""
    begin, stop = coordinate(start), coordinate(end)
    if begin is None or stop is None or not first <= begin <= stop + first:
        rule = "0 <= start <= end" if first == 0 else "1 <= start <= end"
        raise InputError(where=place(source, line), expected=rule, found=f"{start!r}, {end!r}")
    sign: Strand = "+" if strand == "+" else "-" if strand == "-" else "."
    return Interval(record=record, start=begin - first, end=stop, strand=sign)
