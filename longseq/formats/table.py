"""Tables of text with a header line, tab or comma between cells: rows by column name, each with its line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from longseq.errors import InputError, place
from longseq.formats.containers import open_bytes

LONGEST_CELL = 1 << 24
"""Characters of one cell."""


class Row(NamedTuple):
    line: int
    """1-based; of a row over several lines the last one."""
    cells: dict[str, str]
    """By column, without white space around."""


class Table(NamedTuple):
    source: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def where(self, row: Row) -> str:
        return place(self.source, row.line)


def read_table(source: str | Path) -> Table:
    """A TSV or CSV file, plain or packed; a table with a tab in its header line is a TSV. Blank lines are passed.

    Cells may be quoted as in RFC 4180. The table is held whole.

    Raises:
        InputError: nothing there, no UTF-8, a column without a name or of a name twice, a row with more or fewer cells
            than columns, no row at all.
    """
    name = str(source)
    text = _text(source)
    first = text.split("\n", 1)[0]
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in first else ",")
        header = tuple(cell.strip() for cell in next(reader, []))
        _check(header, name)
        rows = tuple(_rows(reader, header, name))
    except csv.Error as error:
        raise InputError(where=place(name, reader.line_num), expected="a row of a table", found=str(error)) from None
    finally:
        csv.field_size_limit(before)
    if not rows:
        raise InputError(where=place(name), expected="rows below the header line", found="none")
    return Table(name, header, rows)


def _text(source: str | Path) -> str:
    stream = open_bytes(source)
    try:
        parts = []
        while piece := stream.read():
            parts.append(piece)
    finally:
        stream.close()
    data = b"".join(parts)
    if stream.truncated:
        raise InputError("ends early", where=place(str(source)), remedy="copy or download the file again")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            where=place(str(source), line),
            expected="UTF-8 text",
            found=f"byte 0x{data[error.start]:02x}",
            remedy="convert it: iconv -f ENCODING -t UTF-8",
        ) from None


def _check(header: tuple[str, ...], name: str) -> None:
    where = place(name, 1)
    if not any(header):
        raise InputError(where=where, expected="a header line with names of columns", found="none")
    for i, column in enumerate(header):
        if not column:
            raise InputError(where=where, expected=f"a name of column {i + 1}", found="none")
        if column in header[:i]:
            raise InputError(where=where, expected="names of columns once each", found=f"{column!r} twice")


def _rows(reader: Iterator[list[str]], header: tuple[str, ...], name: str) -> Iterator[Row]:
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        line = reader.line_num  # type: ignore[attr-defined]
        if len(cells) != len(header):
            raise InputError(
                where=place(name, line),
                expected=f"{len(header)} cells ({', '.join(header[:6])})",
                found=str(len(cells)),
            )
        yield Row(line, dict(zip(header, (cell.strip() for cell in cells), strict=True)))
