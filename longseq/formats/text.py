"""Plain text and Markdown: one document a file, UTF-8, every character kept as it stands."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.body import moved_on
from longseq.formats.containers import ByteStream
from longseq.formats.detect import document_name
from longseq.records import Record

_MARK = codecs.BOM_UTF8


def records(stream: ByteStream, *, format: str = "text", read_block: int = READ_BLOCK) -> Iterator[Record]:
    r"""The one document of a file. Line ends are left alone (`\r\n` stays); a byte order mark is taken off and noted.

    Notes say `format` ("text" or "markdown"), `encoding`, and `bom` (its number of bytes) where there was one.

    Raises:
        InputError: from the pieces, bytes that are no UTF-8.
    """
    mark = len(_MARK) if stream.peek(len(_MARK)) == _MARK else 0
    if mark:
        stream.read(mark)
    record = Record(
        id=document_name(stream.source),
        kind="document",
        source=stream.source,
        index=0,
        pieces=iter(()),
        line=1,
        notes={"format": format, "encoding": "utf-8", **({"bom": mark} if mark else {})},
    )
    over: list[Record] = []
    record.pieces = _pieces(stream, record, mark, read_block, over)
    yield record
    over.append(record)


def _pieces(stream: ByteStream, record: Record, start: int, read_block: int, over: list[Record]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset, line, length = start, 1, 0  # of the first byte that is not decoded yet; of text handed out
    while True:
        if over:
            raise moved_on(record)
        data = stream.read(read_block)
        pending = len(decoder.getstate()[0])
        if not data and stream.truncated and pending:
            record.notes = {**record.notes, "cut_bytes": pending}
            break
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise InputError(
                where=place(record.source, line + error.object.count(b"\n", 0, error.start)),
                expected="UTF-8 text",
                found=f"byte 0x{error.object[error.start]:02x} at offset {offset + error.start}",
                remedy="convert it: iconv -f ENCODING -t UTF-8",
            ) from None
        offset += pending + len(data) - len(decoder.getstate()[0])
        line += text.count("\n")
        length += len(text)
        if text:
            yield text
        if not data:
            break
    record.length = length
    record.truncated = stream.truncated
