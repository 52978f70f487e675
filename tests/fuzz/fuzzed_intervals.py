"""Readers of what is said of sequences: intervals, variants, labels, other names."""

from __future__ import annotations

import atexit
import re
from collections import deque
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzzing import Target

from longseq.errors import InputError
from longseq.formats.aliases import read_aliases
from longseq.formats.features import TOLD, read_features
from longseq.formats.names import match
from longseq.formats.table import read_header, read_table
from longseq.formats.vcf import VcfFile
from longseq.formats.vcf_writer import vcf_output
from longseq.tasks.info import describe
from longseq.tasks.variants.alleles import alleles
from longseq.tasks.variants.reference import Reference

LARGEST = 2**63 - 1
_BED = re.compile(rb"[^\t\r\n\x80-\xff]+\t\d+\t\d+(\t[^\t\r\n]*)*\r?")


def _bed(path: Path) -> None:
    """Intervals as they stand, where every line is plain enough to be read in one way only."""
    found = [feature.interval for feature in read_features(path)]
    lines = [line for line in path.read_bytes().split(b"\n") if line.strip() and not line.startswith(TOLD)]
    if all(map(_BED.fullmatch, lines)):
        cells = [line.split(b"\t") for line in lines]
        plain = [(cell[0].decode().strip(), int(cell[1]), int(cell[2])) for cell in cells]
        assert [(one.record, one.start, one.end) for one in found] == plain
    describe(str(path))


def _features(path: Path) -> None:
    for feature in read_features(path):
        assert 0 <= feature.interval.start <= feature.interval.end <= LARGEST
        assert feature.codon in (None, 0, 1, 2)
    describe(str(path))


@cache
def _reference() -> Reference:
    with TemporaryDirectory() as folder:
        file = Path(folder, "reference.fa")
        file.write_text(">one\nACGTACGTACGTNNRYACGTACGT\n>two\nACGTACGT\n")
        found = Reference(file)
    atexit.register(found.close)
    return found


def _variants(path: Path) -> None:
    """Every row, and what `score` asks of its alleles; written again, with an index."""
    reference = _reference()
    with VcfFile(path) as file, vcf_output(path.with_name("out.vcf.gz"), force=True) as out:
        out.header([*file.header, file.columns])
        names = match([row.variant.record for row in file.rows()], reference.names).mapping
        for row in file.rows():
            found = alleles(row.variant, reference, names.get(row.variant.record), 4, 100)
            assert len(found) == max(len(row.variant.alts), 1)
            out.row(row.cells)
    describe(str(path))


def _aliases(path: Path) -> None:
    pairs = read_aliases(path)
    match([one for one, _ in pairs], ["chr1", "NC_000001.11", "one", "MT"], pairs)


def _labels(path: Path) -> None:
    read_header(path)
    table = read_table(path)
    assert all(set(row.cells) == set(table.columns) for row in table.rows)
    deque(map(table.where, table.rows), maxlen=0)


_LINES = (
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"\0",
    b"#",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"chr1",
    b"one",
    b".",
    b"+",
    b"-",
)
_GFF = (*_LINES, b"CDS", b"region", b"Is_circular=true", b";", b"=", b",", b"%3B", b"%", b"##FASTA\n", b'"', b"LOCUS ")
_PLACES = (
    b"complement(",
    b"join(",
    b"order(",
    b"..",
    b"<",
    b">",
    b"^",
    b"(",
    b")",
    b",",
    b"J00194.1:",
    b"LOCUS       ",
)
_VCF = (b"##fileformat=VCFv4.5\n", b"#CHROM\tPOS\t", b"<DEL>", b"*", b"]one:9]", b"[", b"GT", b"N", b"ACGT", b";", b":")


def _intervals(name: str, file: str, read: object, words: tuple[bytes, ...], **more: object) -> Target:
    return Target(name=name, file=file, read=read, words=words, error=InputError, **more)


INTERVALS = (
    _intervals("bed", "a.bed", _bed, (*_LINES, b"track ", b"browser ")),
    _intervals("gff3-features", "a.gff3", _features, _GFF),
    _intervals("genbank-features", "a.gb", _features, (*_LINES, *_PLACES, b"FEATURES  ", b" " * 21 + b"/codon_start=")),
    _intervals("vcf", "a.vcf", _variants, (*_LINES, *_VCF)),
    _intervals(
        "bcf", "a.bcf", _variants, (b"BCF\2\2", b"##contig=<ID=one>\n", b"\x17", b"\x11", b"\0\0\x80\x7f", b"\x80")
    ),
    _intervals("aliases", "a.txt", _aliases, (*_LINES, b"NC_", b"|", b"gi|", b"ref|", b"chr")),
    _intervals(
        "labels", "a.txt", _labels, (*_LINES, b'"', b'""', b",", b"id", b"label", b"{", b"}", b'":', b"[", b"PAR1")
    ),
)
