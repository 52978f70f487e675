"""JSON lines: a row a line, an object of fields.

Lines are read by our own reader: a text may be longer than any buffer that a table reader sets aside for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.containers import ByteStream
from longseq.formats.jsonfile import parsed
from longseq.formats.rows import RawRow, Rows

LONGEST_LINE = 1 << 26
"""Bytes of one line; a line is held while it is parsed, and what it says beside it: five times that in memory."""


class JsonRows(Rows):
    """Rows with all their fields; columns are the fields of the first line that is not blank.

    A line that is no object has a fault; the reader goes on with the next line.
    """

    def __init__(self, stream: ByteStream, *, read_block: int = READ_BLOCK):
        self.stream: ByteStream = stream
        self.source = stream.source
        self._lines = Blocks(stream, read_block)
        self._lines.skip_mark()
        rows = self._rows()
        first = next(rows, None)
        self._walk = chain(() if first is None else (first,), rows)
        self.columns = {} if first is None else {name: isinstance(v, str) for name, v in first.cells.items()}

    def walk(self, wanted: Collection[str] | None = None) -> Iterator[RawRow]:
        return self._walk

    def _rows(self) -> Iterator[RawRow]:
        while True:
            line = self._lines.line
            data = self._lines.readline(LONGEST_LINE)
            if data is None:
                return
            if not data.strip():
                continue
            fields: dict[str, Any] = {}
            fault: InputError | None = None
            try:
                fields = _parse(data, place(self.source, line))
            except InputError as error:
                fault = error
            last = not self._lines.fill()
            cut = last and self.stream.truncated
            yield RawRow(line, line, fields, None if cut else fault, cut)


def _parse(data: bytes, where: str) -> dict[str, Any]:
    try:
        fields = parsed(data)
    except ValueError as error:
        raise InputError(where=where, expected="a JSON object on one line", found=str(error)) from None
    if not isinstance(fields, dict):
        raise InputError(where=where, expected="a JSON object", found=type(fields).__name__)
    return fields
