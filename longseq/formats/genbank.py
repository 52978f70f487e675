"""GenBank and EMBL flat files: names, topology and letters; features are not read here.

The letters are streamed like those of FASTA, since a chromosome in GenBank is no shorter. Case means nothing in these
formats: letters come in upper case. (GenBank release notes, section 3.4; EMBL user manual, section 3.4.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.body import Body
from longseq.formats.containers import ByteStream
from longseq.formats.header import decode
from longseq.formats.letters import NO_PROTEIN, OnUnknown
from longseq.records import Record, coordinate

_SIZE = re.compile(r"(?<![0-9])([0-9]+) +(bp|aa)\b")
"""Of a first line; a run of digits is looked at once, however long it is."""


def records(stream: ByteStream, *, on_unknown: OnUnknown = "error", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """Records in file order; the id is ACCESSION.VERSION, or the accession, or the name of the first line.

    Text above the first record (the head of a release file) is passed. A record whose letters do not number as many as
    its first line declares says so in `notes["declared_length"]`.

    Raises:
        InputError: between records, something that begins none. A record of protein, or one that only points to its
            letters (CONTIG, CO), raises from its pieces.
    """
    text = Blocks(stream, read_block)
    text.skip_mark()
    body, index = Body(text, b"/", on_unknown, closed=True, numbered=True), 0
    while (found := _next_header(text, index)) is not None:
        line, header = found
        record = Record(
            id=header.accession_version,
            kind="dna",
            source=stream.source,
            index=index,
            pieces=iter(()),
            description=" ".join(header.definition).removesuffix("."),
            line=line,
            case_is_mask=False,
            topology=header.topology,
            length=header.length,
            truncated=not header.ended,
        )
        letters = body.open(record)
        record.pieces = _refuse(record, header) if header.ended and header.fault else letters
        yield record
        body.skip()
        index += 1


DEFINITION = 1000
"""Lines of a record's definition, which are held; those of databases have a few."""


@dataclass
class _Header:
    """What stands above the letters."""

    name: str = ""
    length: int | None = None
    unit: str = "bp"
    topology: Literal["circular", "linear"] | None = None
    accession: str = ""
    version: str = ""
    definition: list[str] = field(default_factory=list)
    ended: bool = False
    """The line above the letters, or the end of the record, was reached."""
    letters: bool = False
    """Letters follow."""

    def define(self, line: str, text: Blocks) -> None:
        """Take a line of the definition."""
        if len(self.definition) == DEFINITION:
            expected = f"a definition of at most {DEFINITION:,} lines"
            raise InputError(where=place(text.stream.source, text.line), expected=expected, found="a longer one")
        self.definition.append(line)

    @property
    def accession_version(self) -> str:
        return self.version or self.accession or self.name

    @property
    def fault(self) -> str:
        if self.unit == "aa":
            return "protein"
        if not self.letters and self.length:
            return "none, only a pointer to other records"
        return ""


def _refuse(record: Record, header: _Header) -> Iterator[bytes]:
    remedy = NO_PROTEIN if header.unit == "aa" else "download the full record (gbwithparts)"
    raise InputError(where=record.where, expected="DNA letters", found=header.fault, remedy=remedy)
    yield b""  # makes this a generator: the fault shows when the pieces are walked


def _next_header(text: Blocks, index: int) -> tuple[int, _Header] | None:
    while True:
        line = text.line
        found = text.readline()
        if found is None:
            return None
        if found.startswith(b"LOCUS "):
            header = _locus(decode(found))
            _read_genbank(text, header)
            return line, header
        if found.startswith(b"ID   "):
            header = _id_line(decode(found))
            _read_embl(text, header)
            return line, header
        if index and found.strip() not in (b"", b"//"):
            raise InputError(
                where=place(text.stream.source, line),
                expected="LOCUS or ID, which begin a record",
                found=repr(decode(found[:20])),
            )


def _locus(line: str) -> _Header:
    """`LOCUS  NC_000866  168903 bp  DNA  linear  PHG 18-JUL-2016`; columns differ between writers, words do not."""
    words = line.split()
    header = _Header(name=words[1] if len(words) > 1 else "")
    size = _SIZE.search(line)
    if size:
        header.length, header.unit = coordinate(size[1]), size[2]
    header.topology = _topology(words[2:])
    return header


def _read_genbank(text: Blocks, header: _Header) -> None:
    key = b""
    while (line := _head_line(text, header)) is not None:
        if line[:1].strip():
            key = line.split(None, 1)[0]
        value = decode(line[12:]).strip()
        if key == b"ORIGIN":
            header.ended = header.letters = True
            return
        if key == b"DEFINITION" and value:
            header.define(value, text)
        elif key == b"ACCESSION" and not header.accession:
            header.accession = (value.split() or [""])[0]
        elif key == b"VERSION" and not header.version:
            header.version = (value.split() or [""])[0]


def _id_line(line: str) -> _Header:
    """`ID   X56734; SV 1; linear; mRNA; STD; PLN; 1859 BP.`; before 2006 `ID   NAME standard; circular DNA; …`."""
    parts = [part.strip() for part in line[5:].split(";")]
    header = _Header(name=(parts[0].split() or [""])[0])
    version = re.fullmatch(r"SV ([0-9]+)", parts[1]) if len(parts) > 1 else None
    if version:
        header.version = f"{header.name}.{version[1]}"
    header.topology = _topology(" ".join(parts[1:]).lower().split())
    size = _SIZE.search(parts[-1].lower())
    if size:
        header.length, header.unit = coordinate(size[1]), size[2]
    return header


def _read_embl(text: Blocks, header: _Header) -> None:
    while (line := _head_line(text, header)) is not None:
        key, value = line[:2], decode(line[5:]).strip()
        if key == b"SQ":
            header.ended = header.letters = True
            return
        if key == b"DE" and value:
            header.define(value, text)
        elif key == b"AC" and not header.accession:
            header.accession = value.split(";")[0].strip()
        elif key == b"SV" and not header.version:
            header.version = value.split()[0] if value else ""


def _head_line(text: Blocks, header: _Header) -> bytes | None:
    """The next line above the letters; None where the record or the file ends without any."""
    if text.fill() and text.data.startswith(b"/", text.at):  # the second one may stand in the next block
        header.ended = True
        return None  # the mark stays where it is, for the body to find
    return text.readline()


def _topology(words: list[str]) -> Literal["circular", "linear"] | None:
    if "circular" in words:
        return "circular"
    return "linear" if "linear" in words else None
