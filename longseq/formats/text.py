"""Plain text, Markdown and reStructuredText: one document a file, every character kept as it stands."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream
from longseq.formats.documents import alone
from longseq.formats.encoding import Decoder
from longseq.formats.known import document_name
from longseq.records import Record


def records(stream: ByteStream, *, format: str = "text", read_block: int = READ_BLOCK) -> Iterator[Record]:
    r"""The one document of a file. Line ends are left alone (`\r\n` stays); a byte order mark is taken off and noted.

    Notes say `format` ("text", "markdown" or "rst"), `encoding` (told from the bytes), `bom` (its number of bytes)
    where there was a mark, and `bad_bytes`, of those that are no text in that encoding and stand as U+FFFD.
    """
    decoder = Decoder(stream)
    record = Record(
        id=document_name(stream.source),
        kind="document",
        source=stream.source,
        index=0,
        pieces=iter(()),
        line=1,
        notes={"format": format, **_facts(decoder)},
    )
    return alone(record, _pieces(stream, record, decoder, read_block))


def _facts(decoder: Decoder) -> dict[str, str | int]:
    # ASCII is UTF-8 too
    facts: dict[str, str | int] = {"encoding": "utf-8" if decoder.encoding == "ascii" else decoder.encoding}
    facts |= {"bom": decoder.mark} if decoder.mark else {}
    return facts | ({"bad_bytes": decoder.bad} if decoder.bad else {})


def _pieces(stream: ByteStream, record: Record, decoder: Decoder, read_block: int) -> Iterator[str]:
    yield from decoder.pieces(read_block)
    record.truncated = stream.truncated
    record.notes = {**record.notes, **_facts(decoder)}
    if stream.truncated and decoder.pending:
        record.notes = {**record.notes, "cut_bytes": decoder.pending}
