"""CSV and TSV: a header line, then a row a line, or over several where a cell in quotes holds line ends (RFC 4180)."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream
from longseq.formats.detect import SAMPLE
from longseq.formats.rows import RawRow, Rows, checked

LONGEST_CELL, LONGEST_LINE = 1 << 24, 1 << 26
"""Characters of a cell, and bytes of a line, which are held. A quotation mark that is never closed is found there, or
at the end, and nothing behind it can be told."""


class DelimitedRows(Rows):
    """Rows with cells as they stand; blank lines are passed, and count as no row.

    A row that is none has a fault; the reader goes on with the next one.

    Args:
        tabs: cells are separated by tabs; else by commas, or tabs where the header line holds one.

    Raises:
        InputError: no header line, no UTF-8, a column without a name or of a name twice.
    """

    def __init__(self, stream: ByteStream, *, tabs: bool = False, read_block: int = READ_BLOCK):
        self.stream: ByteStream = stream
        self.source = stream.source
        tabs = tabs or b"\t" in stream.peek(SAMPLE).split(b"\n", 1)[0]
        self._reader = csv.reader(_lines(stream, read_block), delimiter="\t" if tabs else ",", strict=True)
        where = place(stream.source, 1)
        try:
            header = self._next() or []
        except csv.Error as error:
            raise _broken(where, error) from None
        self._header = checked([cell.strip() for cell in header], where)
        self.columns = dict.fromkeys(self._header, len(self._header) == 1)

    def walk(self, wanted: Collection[str] | None = None) -> Iterator[RawRow]:
        held: RawRow | None = None  # which row the end cuts is known behind it
        for row in self._rows(wanted):
            if held is not None:
                yield held
            held = row
        if held is not None:
            yield held._replace(fault=None, cut=True) if self.stream.truncated else held

    def _rows(self, wanted: Collection[str] | None) -> Iterator[RawRow]:
        number = 0
        while True:
            try:
                cells = self._next()
            except csv.Error as error:
                number += 1
                line = self._reader.line_num
                yield RawRow(number, line, {}, _broken(place(self.source, line), error))
                if "field limit" in str(error):
                    return
                continue
            if cells is None:
                return
            if not cells:
                continue
            number += 1
            line = self._reader.line_num
            if len(cells) == len(self._header) and (len(cells) == 1 or any(cell.strip() for cell in cells)):
                pairs = zip(self._header, cells, strict=True)
                yield RawRow(number, line, {name: cell for name, cell in pairs if wanted is None or name in wanted})
            elif any(cell.strip() for cell in cells):
                expected = f"{len(self._header)} cells ({', '.join(self._header[:6])})"
                fault = InputError(where=place(self.source, line), expected=expected, found=str(len(cells)))
                yield RawRow(number, line, {}, fault)

    def _next(self) -> list[str] | None:
        before = csv.field_size_limit(LONGEST_CELL)  # one limit for the whole program: it is left as it was
        try:
            return next(self._reader, None)
        finally:
            csv.field_size_limit(before)


def _broken(where: str, error: csv.Error) -> InputError:
    return InputError(
        where=where,
        expected="a row of a table",
        found=str(error),
        remedy="a cell that begins with a quotation mark ends with one, and doubles those inside",
    )


def _lines(stream: ByteStream, read_block: int) -> Iterator[str]:
    for number, line in enumerate(_byte_lines(stream, read_block), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                where=place(stream.source, number),
                expected="UTF-8 text",
                found=f"byte 0x{line[error.start]:02x}",
                remedy="convert it: iconv -f ENCODING -t UTF-8",
            ) from None
        if number == 1:
            text = text.removeprefix("\ufeff")
        if "\r" in text[:-2]:
            yield from io.StringIO(text, newline="")
        else:
            yield text


def _byte_lines(stream: ByteStream, read_block: int) -> Iterator[bytes]:
    parts: list[bytes] = []
    held, number = 0, 1
    while piece := stream.read(read_block):
        *whole, rest = piece.split(b"\n")
        if whole:
            whole[0] = b"".join([*parts, whole[0]])
            parts, held, number = [], 0, number + len(whole)
        for line in whole:
            yield line + b"\n"
        parts.append(rest)
        if (held := held + len(rest)) > LONGEST_LINE:
            raise InputError(
                where=place(stream.source, number),
                expected=f"lines of at most {LONGEST_LINE:,} bytes",
                found="a longer one",
                remedy="give a text so long as a file of its own",
            )
    if last := b"".join(parts):
        yield last
