"""What a decompressed stream holds, decided by its first bytes; the name only settles what content cannot.

Prose and nucleotides are told apart by letters: nine in ten letters of a sequence line are IUPAC codes and it has no
blanks; of English letters about a third are none, and every sixth byte is a blank.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from longseq.errors import InputError, place
from longseq.formats.containers import ByteStream
from longseq.formats.encoding import byte_order_mark, wide
from longseq.formats.features import TOLD
from longseq.formats.jsonfile import parsed
from longseq.formats.known import (
    ACCEPTED,
    ARROW,
    BAM,
    CRAM,
    CSV,
    DOCX,
    EMBL,
    EPUB,
    FASTA,
    FASTQ,
    GENBANK,
    GFF3,
    HTML,
    JATS,
    JSONL,
    MARKDOWN,
    PARQUET,
    PDF,
    RST,
    SAM,
    TEXT,
    TSV,
    TWOBIT,
    Format,
    by_suffix,
)
from longseq.formats.letters import LETTERS
from longseq.records import Kind

SAMPLE = 1 << 16
"""Bytes looked at."""

VARIANTS = "longseq score takes tables of variants, with --reference FASTA"
"""What to do with one that was given as sequences."""

_FOREIGN_BINARY = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\xd0\xcf\x11\xe0", "a document of Word 97-2003 or its like"),
    (b"{\\rtf", "RTF"),
    (b"BCF\2", "BCF"),
    (b"\x89HDF", "HDF5"),
    (b"\x1f\x9d", "a .Z archive"),
    (b"\x04\x22\x4d\x18", "lz4 data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"LZIP", "lzip data"),
    (b"\x7fELF", "a program"),
)
_FOREIGN_TEXT = (
    (re.compile(rb"##fileformat=VCF|#CHROM\tPOS\t"), "VCF"),
    (re.compile(rb"\s*<\?xml"), "XML of a kind that is not read"),
)
_HTML = re.compile(  # a comment ends at its first end: taken back, many of them would be tried in every grouping
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:(?><!--.*?-->)\s*+)*+(?:<!doctype html|<html)", re.IGNORECASE | re.DOTALL
)
_XML = re.compile(rb"\s*(<\?xml|<!DOCTYPE article|<article)")
_JATS = re.compile(rb"<article[\s>]|JATS|NLM//DTD|<pmc-articleset")
_UTF8_BOM = b"\xef\xbb\xbf"
_BINARY = {b"\x1a\x41\x27\x43": TWOBIT, b"\x43\x27\x41\x1a": TWOBIT, b"BAM\1": BAM, b"CRAM": CRAM}
INTERVALS = {
    "intervals (BED)": re.compile(rb"[^\t]+\t\d+\t\d+(\t[^\t]*)*"),
    "features (GFF or GTF)": re.compile(rb"([^\t]+\t){3}\d+\t\d+\t[^\t]+\t[+.?-]\t[.012](\t[^\t]*)?"),
}
_SAM = re.compile(
    rb"@(HD|SQ|RG|PG)\t[A-Za-z]|[!-?A-~]{1,254}\t\d+\t[!-~]+\t\d+\t\d+\t(\*|(\d+[MIDNSHPX=])+)\t[!-~]+\t\d+\t-?\d+\t"
)
"""A line of the header, or an alignment (SAM specification, sections 1.3 and 1.4)."""


def detect(stream: ByteStream, kind: Kind | None = None) -> Format:
    """The format of what `stream` will give; nothing is used up.

    With `kind="document"` any text is plain text or Markdown (JSON lines, CSV and TSV stay what they are); with
    `kind="dna"` letters are read as a sequence format.

    Raises:
        InputError: no data, binary data of another kind, or a kind that the content cannot be.
    """
    sample = stream.peek(SAMPLE)
    where = place(stream.source)
    if not sample:
        problem = "was cut before its first letter" if stream.truncated else "holds no data"
        raise InputError(problem, where=where, remedy="copy or download the file again")
    if (reads := _BINARY.get(sample[:4])) is not None and not (reads is CRAM and sample[4:5] >= b" "):
        if kind == "document":
            raise InputError(where=where, expected="a document", found=reads.name)
        return reads
    if (binary := _binary_table(sample)) is not None:
        return binary
    if (packed := _document(sample)) is not None:
        if kind == "dna":
            raise InputError(where=where, expected="sequences", found=packed.name)
        return packed
    mark, wide_as = byte_order_mark(sample[:4])
    wide_as = wide_as if wide_as != "utf-8" else None
    if wide_as or (wide_as := wide(sample)):
        return _wide(sample[mark:], wide_as, where, by_suffix(stream.source))
    _refuse_binary(sample, where)
    suffix = by_suffix(stream.source)
    text = sample.removeprefix(_UTF8_BOM)
    if kind != "dna" and (marked := _marked_up(text, suffix)) is not None:
        return marked
    if kind == "document":
        if _is_json_lines(text):
            return JSONL
        return suffix if suffix in (CSV, TSV) else _prose(text, suffix)
    _refuse_text(text, where)
    found = _sequence(text, suffix)
    if found is not None:
        return found
    if _is_json_lines(text):
        return JSONL
    if suffix in (FASTA, FASTQ, GENBANK, EMBL, JSONL, CSV, TSV):
        return suffix  # its reader says what is wrong
    if suffix is None:
        _refuse_intervals(text, where)
    return FASTA if kind == "dna" else _prose(text, suffix)


def _document(sample: bytes) -> Format | None:
    """PDF (its header may stand behind other bytes: ISO 32000-1, annex H), and documents packed as zip archives."""
    if sample.startswith(b"%PDF-") or (b"%PDF-" in sample[:1024] and b"\0" in sample[:4096]):
        return PDF
    if sample.startswith(b"PK\x03\x04"):
        if sample[30:58] == b"mimetypeapplication/epub+zip" or b"META-INF/container.xml" in sample:
            return EPUB
        if b"[Content_Types].xml" in sample or b"word/" in sample:
            return DOCX
    return None


def _marked_up(text: bytes, suffix: Format | None) -> Format | None:
    if _HTML.match(text):
        return HTML
    if _XML.match(text) and _JATS.search(text):
        return JATS
    return HTML if suffix is HTML and text.lstrip().startswith(b"<") else None


def _wide(sample: bytes, encoding: str, where: str, suffix: Format | None) -> Format:
    """Text of two or four bytes a character."""
    text = sample.decode(encoding, "ignore").encode()
    if (marked := _marked_up(text, suffix)) is not None:
        return marked
    if _sequence(text, suffix) is not None or _is_json_lines(text) or suffix in (JSONL, CSV, TSV):
        found = encoding.upper().removesuffix("-LE").removesuffix("-BE")
        raise InputError(
            where=where, expected="UTF-8 text", found=found, remedy=f"convert it: iconv -f {found} -t UTF-8"
        )
    return _prose(text, suffix)


def detect_table(stream: ByteStream) -> Format:
    """The kind of table that `stream` will give; nothing is used up. Other text than JSON lines is CSV or TSV."""
    sample = stream.peek(SAMPLE)
    if (binary := _binary_table(sample)) is not None:
        return binary
    if _is_json_lines(sample.removeprefix(_UTF8_BOM)):
        return JSONL
    return TSV if by_suffix(stream.source) is TSV else CSV


def _binary_table(sample: bytes) -> Format | None:
    if sample.startswith(b"PAR1"):
        return PARQUET
    # A file of Arrow, or a stream: a mark, then the size of the schema, a multiple of 8.
    stream = sample.startswith(b"\xff\xff\xff\xff") and 0 < int.from_bytes(sample[4:8], "little") < 1 << 24
    return ARROW if sample.startswith(b"ARROW1\0\0") or stream else None


def _sequence(text: bytes, suffix: Format | None) -> Format | None:
    if _SAM.match(text):
        return SAM
    if text.startswith(b"##gff-version"):
        return GFF3
    start = text.lstrip()
    lines = start.splitlines()
    if not lines:
        return None
    if start.startswith(b">"):
        return None if _like_quotation(lines, suffix) else FASTA
    if start.startswith(b"@") and _is_fastq(lines):
        return FASTQ
    if re.match(rb"ID   \S.*;", start):
        return EMBL
    if re.match(rb"LOCUS {5,}\S", start):
        return GENBANK
    if suffix in (TEXT, MARKDOWN, RST, CSV, TSV):
        return None
    if re.search(rb"^LOCUS {5,}\S+ +\d+ (bp|aa) ", text, re.MULTILINE):
        return GENBANK  # below the head of a release file
    if like_sequence(lines):
        return FASTA  # letters without a header: its reader says so
    for header, line in pairwise(lines):
        if header.startswith(b">") and len(line) >= 10 and like_sequence([line]):
            return FASTA  # text above the first header: its reader says so
    return None


def _measure(lines: list[bytes]) -> tuple[int, int, int]:
    """Bytes, blanks among them, and those that are neither a DNA letter nor a blank."""
    text = b"".join(line.strip() for line in lines)
    return len(text), text.count(b" ") + text.count(b"\t"), len(text.translate(None, LETTERS + b" \t"))


def like_sequence(lines: list[bytes]) -> bool:
    """Whether these lines are letters of DNA rather than prose."""
    size, blanks, other = _measure(lines)
    # Sequence may stand in groups of ten; words are shorter and have other letters.
    return size > 0 and other <= size // 10 and (blanks == 0 or (blanks <= size // 8 and other == 0))


def _like_quotation(lines: list[bytes], suffix: Format | None) -> bool:
    """Whether `>` marks quotations (Markdown, mail): the other lines are prose, or there are none."""
    size, blanks, other = _measure([line for line in lines if not line.startswith(b">")])
    if size == 0:
        return suffix in (TEXT, MARKDOWN) or all(line.startswith(b"> ") for line in lines if line.strip())
    return blanks > size // 20 and other > size // 8


def _is_fastq(lines: list[bytes]) -> bool:
    if len(lines) < 3:  # a long read goes on past the sample
        return len(lines) == 2 and like_sequence(lines[1:])
    return lines[2].startswith(b"+") and b" " not in lines[1]


def _is_json_lines(text: bytes) -> bool:
    start = text.lstrip()
    if not start.startswith(b"{"):
        return False
    line, feed, _ = start.partition(b"\n")
    if not feed and len(text) >= SAMPLE - len(_UTF8_BOM):
        return re.match(rb'\{\s*"', line) is not None
    try:
        return isinstance(parsed(line), dict)
    except ValueError:
        return False


def _prose(text: bytes, suffix: Format | None) -> Format:
    if suffix in (TEXT, MARKDOWN, RST):
        return suffix
    headings = len(re.findall(rb"^#{1,6} +\S", text, re.MULTILINE))
    marks: Callable[[bytes], bool] = lambda pattern: re.search(pattern, text, re.MULTILINE) is not None  # noqa: E731
    other = marks(rb"^(```|~~~)") or marks(rb"\]\([^)\s]{1,2000}+\)") or marks(rb"\*\*\S") or marks(rb"^[-*+] +\S")
    return MARKDOWN if headings >= 2 or (headings and other) else TEXT


def _refuse_binary(sample: bytes, where: str) -> None:
    for magic, name in _FOREIGN_BINARY:
        if sample.startswith(magic):
            raise InputError(where=where, expected=ACCEPTED, found=name, remedy=VARIANTS if name == "BCF" else None)
    if sample[257:262] == b"ustar":
        raise InputError(where=where, expected=ACCEPTED, found="a tar archive", remedy="unpack it first: tar -xf")
    controls = len(sample) - len(sample.translate(None, bytes(c for c in range(32) if c not in b"\b\t\n\v\f\r\x1b")))
    if b"\0" in sample or controls * 50 > len(sample):
        raise InputError(where=where, expected=ACCEPTED, found="binary data")


def _refuse_text(text: bytes, where: str) -> None:
    for pattern, name in _FOREIGN_TEXT:
        if pattern.match(text):
            remedy = VARIANTS if name == "VCF" else "longseq summarize --kind document reads it as plain text"
            raise InputError(where=where, expected=ACCEPTED, found=name, remedy=remedy)


def _refuse_intervals(text: bytes, where: str) -> None:
    """Places in sequences without the sequences: all whole lines but comments are such."""
    lines = [line for line in text[: text.rfind(b"\n") + 1].splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(TOLD)]
    for name, pattern in INTERVALS.items():
        if lines and all(map(pattern.fullmatch, lines)):
            remedy = "give the sequences; as labels of them: longseq train SEQUENCES --labels FILE"
            raise InputError(where=where, expected="sequences or documents", found=name, remedy=remedy)
