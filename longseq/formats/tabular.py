"""Tables of texts: each row a document, or a sequence of DNA."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from longseq.errors import InputError, meant, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream, open_bytes
from longseq.formats.detect import SAMPLE, detect_table, like_sequence
from longseq.formats.folders import shards
from longseq.formats.known import ARROW, CSV, JSONL, PARQUET, TSV, Format
from longseq.formats.letters import OnUnknown, check, squeeze
from longseq.formats.rows import ID, TITLE, RawRow, Rows, as_text
from longseq.records import Kind, Record

LOOKED_AT = 16
"""Rows held at most to find a first text, by which DNA is told from documents."""
SHORTEST = 10
"""Letters of a text that can be taken for DNA."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def open_rows(source: str | Path) -> Rows:
    """A table of any kind: Parquet, Arrow, JSON lines by content, else TSV or CSV; a data set in a folder is a table.

    Raises:
        InputError: nothing there, or no table.
    """
    if parts := shards(source):
        return arrow_rows(str(source), parts)
    stream = open_bytes(source)
    try:
        return opened(stream, detect_table(stream))
    except BaseException:
        stream.close()
        raise


def opened(stream: ByteStream, format: Format, *, read_block: int = READ_BLOCK) -> Rows:
    """The table of a stream of that format.

    Raises:
        InputError: no table, or Parquet or Arrow in a pipe or a container, where nothing can be read ahead.
    """
    if format is JSONL:
        from longseq.formats.jsonl import JsonRows

        return JsonRows(stream, read_block=read_block)
    if format in (CSV, TSV):
        from longseq.formats.delimited import DelimitedRows

        return DelimitedRows(stream, tabs=format is TSV, read_block=read_block)
    assert format in (PARQUET, ARROW)
    if stream.container != "plain" or stream.size is None:
        found = "a pipe" if stream.size is None else f"it packed by {stream.container}"
        remedy = "write it to a file first" if stream.size is None else "unpack it first"
        raise InputError(where=place(stream.source), expected=f"a file of {format.name}", found=found, remedy=remedy)
    stream.close()
    return arrow_rows(stream.source, (stream.source,))


def arrow_rows(source: str, files: tuple[str, ...]) -> Rows:
    """Parquet or Arrow files as one table."""
    from longseq.formats.parquet import ArrowRows

    return ArrowRows(source, files)


def records(
    rows: Rows,
    format: Format,
    *,
    text: str | None = None,
    kind: Kind | None = None,
    on_unknown: OnUnknown = "error",
    read_block: int = READ_BLOCK,
) -> tuple[Kind, Iterator[Record]]:
    """What the texts are, and a record for each row.

    A row whose text is null is an empty document. One that has a fault, or no text, still gives a record, whose pieces
    raise; the reader goes on with the next row.

    Args:
        text: column with the texts.
        kind: overrides what the first text says.

    Raises:
        InputError: no such column.
    """
    column = rows.text(text)
    if column is None:
        if rows.columns:
            raise rows.without(text or "text", "name the one with the texts: --column NAME, in training data.text")
        column = text or "text"  # each row will say what is wrong with it
    walk = rows.walk({column, ID, TITLE})
    ahead = list(islice(walk, 1))
    while len(ahead) < LOOKED_AT and ahead and not ahead[-1].cells.get(column) and (more := next(walk, None)):
        ahead.append(more)
    if kind is None:
        kind = "dna" if ahead and _like_dna(ahead[-1].cells.get(column)) else "document"
    if kind == "document":
        rows.require_text(column)
    return kind, _records(rows, chain(ahead, walk), column, format, kind, on_unknown, read_block)


def _like_dna(text: object) -> bool:
    return isinstance(text, str) and len(text) >= SHORTEST and like_sequence([text[:SAMPLE].encode(errors="replace")])


def _records(
    rows: Rows,
    walk: Iterator[RawRow],
    column: str,
    format: Format,
    kind: Kind,
    on_unknown: OnUnknown,
    read_block: int,
) -> Iterator[Record]:
    for index, row in enumerate(walk):
        record = Record(
            id=rows.name(row),
            kind=kind,
            source=rows.source,
            index=index,
            pieces=iter(()),
            description=as_text(row.cells.get(TITLE)),
            line=row.line,
            truncated=row.cut,
            notes={"format": format.name, "encoding": "utf-8", "column": column},
        )
        try:
            text = _text(row, column, place(rows.source, row.line))
        except InputError as error:
            record.pieces = _raise(error)
        else:
            if kind == "dna":
                record.pieces = _bases(text, record, on_unknown, read_block)
            else:
                record.length = len(text)
                record.pieces = _letters(text, read_block)
        yield record


def _text(row: RawRow, column: str, where: str) -> str:
    if row.fault is not None:
        raise row.fault
    if column not in row.cells and not row.cut:
        known = ", ".join(map(repr, list(row.cells)[:8])) or "none"
        near = meant(column, row.cells)
        raise InputError(
            where=where, expected=f"a field {column!r} that holds text", found=f"the fields {known}", remedy=near
        )
    value = row.cells.get(column)
    text = "" if value is None else value
    if not isinstance(text, str):
        raise InputError(where=where, expected=f"a field {column!r} that holds text", found=str(value)[:40])
    if not text.isascii() and (lone := _SURROGATE.search(text)) is not None:
        found = f"half a surrogate pair at character {lone.start()} of {column!r}"
        raise InputError(where=where, expected="text", found=found)
    return text


def _letters(text: str, size: int) -> Iterator[str]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _bases(text: str, record: Record, on_unknown: OnUnknown, size: int) -> Iterator[bytes]:
    data, base = text.encode(), 0
    for at in range(0, len(data), size):
        run = data[at : at + size]
        letters = squeeze(run)
        if letters:
            letters = check(letters, run, record, base, record.line, on_unknown)
            base += len(letters)
            yield letters
    record.length = base


def _raise(fault: InputError) -> Iterator[str]:
    raise fault
    yield ""  # makes this a generator: the fault shows when the pieces are walked
