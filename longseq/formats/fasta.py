"""FASTA: records of any length, handed out in pieces while the file is read; no record is ever held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.body import Body
from longseq.formats.containers import ByteStream
from longseq.formats.header import split_header
from longseq.formats.letters import OnUnknown
from longseq.records import Record


def records(stream: ByteStream, *, on_unknown: OnUnknown = "error", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """Records in file order; pieces have at most `read_block` letters.

    Any line lengths, CRLF, blank lines, blanks inside lines and lower case are taken; ids may be empty or repeated.
    Letters of a record that nobody walks are skipped without a check.

    Raises:
        InputError: letters before the first `>`. An illegal letter raises from the pieces, and the reader can go on
            with the next record.
    """
    text = Blocks(stream, read_block)
    body, index = Body(text, b">", on_unknown), 0
    _seek_first(text)
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
            topology=_topology(description),
        )
        record.pieces = body.open(record)
        yield record
        body.skip()
        index += 1


def _seek_first(text: Blocks) -> None:
    text.skip_mark()
    text.skip_blank()
    if not text.ended and text.data[text.at : text.at + 1] != b">":
        raise InputError(
            where=place(text.stream.source, text.line),
            expected="a FASTA header that begins with '>'",
            found=repr(text.data[text.at : text.at + 20].split(b"\n")[0].strip().decode("utf-8", "replace")),
            remedy="put a line such as '>name' above the letters, or read it as text with --kind document",
        )


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
