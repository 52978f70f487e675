"""JSON lines: a document a line, in the field `text`, with `id` and `title` where they are given.

Lines are read by our own reader: a text may be longer than any buffer that a table reader sets aside for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.containers import ByteStream
from longseq.records import Record

LONGEST_LINE = 1 << 31
"""Bytes of one line; a line is held while it is parsed."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def records(stream: ByteStream, *, format: str = "jsonl", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """A record for each line that is not blank; without an `id` it is named by its line number.

    A line that is no document still gives a record, whose pieces raise; the reader goes on with the next line.
    """
    text, index = Blocks(stream, read_block), 0
    text.skip_mark()
    while True:
        line = text.line
        data = text.readline(LONGEST_LINE)
        if data is None:
            return
        if not data.strip():
            continue
        fields: dict[str, Any] = {}
        fault: InputError | None = None
        try:
            fields = _parse(data, place(stream.source, line))
        except InputError as error:
            fault = error
        last = not text.fill()
        cut = last and stream.truncated
        record = Record(
            id=str(line if fields.get("id") is None else fields["id"]),
            kind="document",
            source=stream.source,
            index=index,
            pieces=iter(()),
            description=str(fields.get("title") or ""),
            line=line,
            length=None if fault else len(fields["text"]),
            truncated=cut,
            notes={"format": format, "encoding": "utf-8"},
        )
        if fault is None:
            record.pieces = _pieces(fields["text"], read_block)
        elif not cut:
            record.pieces = _raise(fault)
        yield record
        index += 1


def _parse(data: bytes, where: str) -> dict[str, Any]:
    try:
        fields = json.loads(data)
    except ValueError as error:
        raise InputError(where=where, expected="a JSON object on one line", found=str(error)) from None
    if not isinstance(fields, dict):
        raise InputError(where=where, expected="a JSON object", found=type(fields).__name__)
    if "text" in fields and not isinstance(fields["text"], str):
        found = json.dumps(fields["text"])[:40]
        raise InputError(where=where, expected="a field 'text' that holds text", found=found)
    if "text" not in fields:
        known = ", ".join(map(repr, list(fields)[:8])) or "none"
        raise InputError(where=where, expected="a field 'text' that holds text", found=f"the fields {known}")
    if (lone := _SURROGATE.search(fields["text"])) is not None:
        raise InputError(
            where=where, expected="text", found=f"half a surrogate pair at character {lone.start()} of 'text'"
        )
    return fields


def _pieces(text: str, size: int) -> Iterator[str]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _raise(fault: InputError) -> Iterator[str]:
    raise fault
    yield ""  # makes this a generator: the fault shows when the pieces are walked
