"""FASTA: records of any length, handed out in pieces while the file is read; no record is ever held."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.body import Body
from longseq.formats.containers import ByteStream
from longseq.formats.header import split_header
from longseq.formats.letters import NO_PROTEIN, OnUnknown, looks_like_protein, squeeze
from longseq.records import Record

_HEADER = "put a line such as '>name' above the letters; longseq summarize --kind document reads it as text"


def records(stream: ByteStream, *, on_unknown: OnUnknown = "error", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """Records in file order; pieces have at most `read_block` letters.

    Any line lengths, CRLF, blank lines, blanks inside lines and lower case are taken; ids may be empty or repeated.
    Letters of a record that nobody walks are skipped without a check.

    Raises:
        InputError: letters before the first `>`; a file of protein. An illegal letter raises from the pieces, and the
            reader can go on with the next record.
    """
    text = Blocks(stream, read_block)
    text.skip_mark()
    yield from records_below(text, on_unknown)


def records_below(
    text: Blocks, on_unknown: OnUnknown, circular: Collection[str] = (), remedy: str = _HEADER
) -> Iterator[Record]:
    """Records from where `text` stands; those named in `circular` are, and `remedy` goes where no header follows."""
    stream, body, index = text.stream, Body(text, b">", on_unknown), 0
    _seek_first(text, remedy)
    _refuse_protein(text)
    while True:
        line = text.line
        header = text.readline()
        if header is None:
            return
        name, description = split_header(header[1:], stream.source, line)
        record = Record(
            id=name,
            kind="dna",
            source=stream.source,
            index=index,
            pieces=iter(()),
            description=description,
            line=line,
            topology="circular" if name in circular else _topology(description),
        )
        record.pieces = body.open(record)
        yield record
        body.skip()
        index += 1


def _seek_first(text: Blocks, remedy: str) -> None:
    text.skip_blank()
    if not text.ended and text.data[text.at : text.at + 1] != b">":
        raise InputError(
            where=place(text.stream.source, text.line),
            expected="a FASTA header that begins with '>'",
            found=repr(text.data[text.at : text.at + 20].split(b"\n")[0].strip().decode("utf-8", "replace")),
            remedy=remedy,
        )


def _refuse_protein(text: Blocks) -> None:
    """By the letters of the block in hand, so that a file of protein is one error, not one a record."""
    lines = text.data[text.at :].split(b"\n")
    if looks_like_protein(squeeze(b"".join(line for line in lines if not line.startswith(b">")))):
        raise InputError(where=place(text.stream.source), expected="DNA", found="protein", remedy=NO_PROTEIN)


def _topology(description: str) -> Literal["circular", "linear"] | None:
    """What assemblers (`circular=true`) and NCBI (`[topology=circular]`) write into a header; None otherwise."""
    if "=" not in description:  # most headers end here, and there may be millions of them
        return None
    words = description.lower().replace(";", " ").split()
    if "circular=true" in words or "[topology=circular]" in words or "topology=circular" in words:
        return "circular"
    if "[topology=linear]" in words or "topology=linear" in words:
        return "linear"
    return None
