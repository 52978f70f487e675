"""The formats there are, who reads them, and what names of files say."""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple

from longseq.records import Kind

ACCEPTED = (
    "FASTA, FASTQ, GenBank, EMBL, 2bit, BAM, CRAM, SAM, plain text, Markdown, reStructuredText, HTML, PDF, DOCX, EPUB, "
    "JATS, JSON lines, CSV, TSV, Parquet or Arrow"
)


class Format(NamedTuple):
    """One format and who reads it."""

    name: str
    kind: Kind
    module: str
    """Module of `longseq.formats` that reads it; of tables, what their rows hold may be of another kind."""


FASTA = Format("fasta", "dna", "fasta")
FASTQ = Format("fastq", "dna", "fastq")
GENBANK = Format("genbank", "dna", "genbank")
EMBL = Format("embl", "dna", "genbank")
TWOBIT = Format("2bit", "dna", "twobit")
BAM = Format("bam", "dna", "alignments")
CRAM = Format("cram", "dna", "alignments")
SAM = Format("sam", "dna", "alignments")
GFF3 = Format("gff3", "dna", "gff")
TEXT = Format("text", "document", "text")
MARKDOWN = Format("markdown", "document", "text")
RST = Format("rst", "document", "text")
PDF = Format("pdf", "document", "pdf")
HTML = Format("html", "document", "html")
EPUB = Format("epub", "document", "epub")
DOCX = Format("docx", "document", "docx")
JATS = Format("jats", "document", "jats")
JSONL = Format("jsonl", "document", "tabular")
CSV = Format("csv", "document", "tabular")
TSV = Format("tsv", "document", "tabular")
PARQUET = Format("parquet", "document", "tabular")
ARROW = Format("arrow", "document", "tabular")
TABLES = (JSONL, CSV, TSV, PARQUET, ARROW)

_CONTAINER_SUFFIXES = {".gz", ".bgz", ".bz2", ".xz", ".zst", ".zstd"}
_BY_SUFFIX = {
    **dict.fromkeys((".fa", ".fasta", ".fna", ".ffn", ".fas"), FASTA),
    **dict.fromkeys((".fq", ".fastq"), FASTQ),
    **dict.fromkeys((".gb", ".gbk", ".gbff", ".genbank"), GENBANK),
    **dict.fromkeys((".embl",), EMBL),
    **dict.fromkeys((".md", ".markdown"), MARKDOWN),
    **dict.fromkeys((".txt", ".text"), TEXT),
    **dict.fromkeys((".rst",), RST),
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    **dict.fromkeys((".jsonl", ".ndjson"), JSONL),
    **dict.fromkeys((".csv",), CSV),
    **dict.fromkeys((".tsv", ".tab"), TSV),
}


def document_name(source: str) -> str:
    """The file's own name without the suffix of its container; "stdin" for standard input."""
    path = PurePath(source)
    if source == "-":
        return "stdin"
    return path.stem if path.suffix.lower() in _CONTAINER_SUFFIXES else path.name


def by_suffix(source: str) -> Format | None:
    """What the name says of a file's format."""
    return _BY_SUFFIX.get(PurePath(document_name(source)).suffix.lower())
