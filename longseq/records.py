"""Record, Interval, Variant and Alphabet: the words in which every room speaks of data.

Coordinates are 0-based and half-open `[start, end)`, in base pairs (DNA) or Unicode code points (documents).
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from longseq.errors import ConfigError, UsageError, place

Kind = Literal["dna", "document"]

LAST = 2**63 - 1
"""The largest coordinate; as an end, that of whatever there is."""

IUPAC = b"ACGTRYSWKMBDHVN"
"""The fifteen nucleotide codes, in the order in which `longseq` numbers them (A, C, G, T are 0-3)."""

COMPLEMENT = bytes.maketrans(b"ACGTURYSWKMBDHVNacgturyswkmbdhvn", b"TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")
"""Translation table to the complementary code, case kept (NC-IUB 1984, table 1); U complements to A."""


class Mark(NamedTuple):
    """From here to the next mark, the text of a document is of one kind."""

    start: int
    """First code point."""
    part: str = ""
    """"prose", "item", "numbered", "quote", "heading", "code", "table", "note" (a caption, a footnote, a reference), or
    empty where the lines themselves must tell."""
    depth: int = 0
    """Of the section that begins here, 1 the outermost; 0 where none does."""
    title: str = ""
    """Of that section."""


class Page(NamedTuple):
    """A page of a document, and where its text begins."""

    start: int
    """First code point."""
    number: int
    """Physical place, 1-based."""
    label: str
    """As the document numbers it: `xii`, `A-3`."""


class Unread(NamedTuple):
    """A page whose text could not be had."""

    number: int
    """Physical place, 1-based."""
    label: str
    """As the document numbers it."""
    why: str
    """"image" (no text layer), "garbled" (a text layer of wrong letters), "damaged", or "large" (it unpacks to more
    than any page of text)."""


@dataclass(kw_only=True)
class Layout:
    """What a document's format says of its parts, filled while the pieces are walked, ahead of the text it speaks of.

    Offsets are code points of the text handed out, ascending.
    """

    extractor: str
    """Who made the text, with version: the same file gives the same text as long as this is the same."""
    marks: list[Mark] = field(default_factory=list)
    """Parts and sections."""
    sectioned: bool = False
    """The marks name the sections: lines that look like headings begin none."""
    pages: list[Page] = field(default_factory=list)
    """Pages that were read."""
    pages_total: int = 0
    """Pages there are; 0 where the format has none."""
    unread: list[Unread] = field(default_factory=list)
    """Pages whose text is missing."""

    def page_at(self, offset: int) -> Page | None:
        """The page on which this code point stands."""
        at = bisect_right(self.pages, offset, key=lambda page: page.start)
        return self.pages[at - 1] if at else None


@dataclass(kw_only=True)
class Record:
    """One named sequence or document, read once from front to back.

    `pieces` yields the record's letters in order, in pieces of the reader's choosing: `bytes` of ASCII nucleotide
    letters without line breaks for DNA, `str` for documents. It can be walked once; when the reader is asked for its
    next record, what was left of this one is skipped. `length` is known only where the file declares it, or after the
    last piece. A reader sets `truncated` when the file ended too early: what was read is whole, what is missing is not.
    """

    id: str
    """Name up to the first white space; may be empty, may be repeated in a file."""
    kind: Kind
    """What the letters are."""
    source: str
    """File as the user named it; `-` is standard input."""
    index: int
    """Position in the file, 0-based."""
    pieces: Iterator[bytes] | Iterator[str]
    """The letters, once."""
    description: str = ""
    """The rest of the header line."""
    line: int | None = None
    """Line of the header, 1-based; None where the format has no lines."""
    case_is_mask: bool = True
    """Whether lower case marks soft-masked letters (GenBank, EMBL: no)."""
    topology: Literal["circular", "linear"] | None = None
    """As declared by the file; None is unknown, never a guess."""
    length: int | None = None
    """Letters in the record, once known."""
    quality: bytes | None = None
    """FASTQ only: one Phred+33 character a base."""
    truncated: bool = False
    """The file ended inside this record."""
    notes: Mapping[str, str | int] = field(default_factory=dict)
    """What else the reader found: encoding, number of bad bytes, letters the format cannot carry."""
    layout: Layout | None = None
    """Documents only: parts and pages, where the format says more than its lines do."""

    @property
    def where(self) -> str:
        return place(self.source, self.line, self.id)


@dataclass(frozen=True, kw_only=True, order=True)
class Interval:
    """`[start, end)` of a named record, with a strand where one is meant."""

    record: str
    start: int
    end: int
    strand: Literal["+", "-", "."] = "."

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end <= LAST:
            raise UsageError(
                where=f"interval of {self.record}",
                expected="0 <= start <= end < 2^63",
                found=f"[{self.start}, {self.end})",
            )

    def __len__(self) -> int:
        return self.end - self.start

    @classmethod
    def parse(cls, text: str) -> Interval:
        """`chr2:1,001-2,000` as samtools reads it, 1-based and closed, so start 1000, end 2000.

        A bare `chr2` is the whole record (end 2^63 - 1), `chr2:1001` and `chr2:1001-` run to its end. The last colon
        splits, so names may hold colons if a range follows: `HLA:01:1-` is all of `HLA:01`.

        Raises:
            UsageError: no name, a start below 1, or an end before the start.
        """
        match = re.fullmatch(r"(.+?)(?::([0-9][0-9,]*)(?:-([0-9][0-9,]*)?)?)?", text)
        remedy = "write NAME, NAME:START or NAME:START-END, 1-based and closed"
        if match is None:
            raise UsageError(where=f"region {text!r}", expected="a record name", found="none", remedy=remedy)
        name, first, last = match.groups()
        start = coordinate(first.replace(",", "")) if first else 1
        end = coordinate(last.replace(",", "")) if last else LAST
        if start is None or end is None or not 1 <= start <= end:
            raise UsageError(
                where=f"region {text!r}",
                expected="1 <= START <= END < 2^63",
                found=f"{first or 1}-{last or LAST}",
                remedy=remedy,
            )
        return cls(record=name, start=start - 1, end=end)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A row of a table of variants: what stands in the reference, and what may stand there instead."""

    record: str
    """As the table spells it."""
    start: int
    """First base of `ref`, 0-based; -1 where the table speaks of what lies before the first base."""
    ref: str
    alts: tuple[str, ...] = ()
    """As the table spells them: bases, or `*`, `<DEL>`, a breakend; empty where there is none."""
    id: str = "."


@dataclass(frozen=True, kw_only=True)
class Alphabet:
    """The contract between letters and ids, stored in a checkpoint and compared when one is loaded."""

    name: Literal["dna"] = "dna"
    """Family of the alphabet."""
    ambiguity: Literal["keep", "N"] = "keep"
    """IUPAC codes other than ACGTN keep ids of their own, or are read as N."""
    version: int = 1
    """Raised whenever the meaning of an id changes."""

    def __post_init__(self) -> None:
        if self.name != "dna":
            raise ConfigError(where="alphabet.name", expected="'dna'", found=repr(self.name))
        if self.ambiguity not in ("keep", "N"):
            raise ConfigError(where="alphabet.ambiguity", expected="'keep' or 'N'", found=repr(self.ambiguity))

    @property
    def letters(self) -> bytes:
        """Letter of each id, in order; case is a mask beside the ids, U is read as T."""
        return IUPAC if self.ambiguity == "keep" else b"ACGTN"

    def digest(self) -> str:
        """sha256 of the contract's canonical text."""
        text = f"longseq.alphabet/{self.version}:{self.name}:{self.ambiguity}:{self.letters.decode()}:U=T:case=mask"
        return hashlib.sha256(text.encode()).hexdigest()


def coordinate(text: str) -> int | None:
    """A place or a length as files write it, in ASCII digits alone; None where it is no such number below 2^63."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0")  # `int` refuses thousands of digits, zeros too
    number = int(digits or "0") if len(digits) <= len(str(LAST)) else LAST + 1
    return number if number <= LAST else None


def opposite_class(name: str) -> str:
    """What a class is called on the other strand: `exon-` of `exon+`; a name without a strand is itself."""
    return name[:-1] + {"+": "-", "-": "+"}[name[-1]] if name[-1:] in ("+", "-") else name


def reverse_complement(letters: bytes) -> bytes:
    """Reverse complement with case kept. `reverse_complement(reverse_complement(x)) == x` for letters without U."""
    return letters.translate(COMPLEMENT)[::-1]
