"""Tables held in memory, for labels: rows by column name, each with its place."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from longseq.errors import InputError, place
from longseq.formats.cells import unguarded
from longseq.formats.containers import open_bytes
from longseq.formats.detect import detect
from longseq.formats.folders import files, shards
from longseq.formats.known import TABLES
from longseq.formats.rows import ID, RawRow, Rows, as_text
from longseq.formats.tabular import open_rows


class Row(NamedTuple):
    line: int
    """1-based; of a row over several lines the last one, of Parquet and Arrow the row."""
    cells: dict[str, str]
    """By column, without white space around, nor the apostrophe that keeps a spreadsheet from taking it for a formula;
    nulls are empty, the parts of a list are separated by `;`."""
    id: str
    """Id of the record that `longseq.formats.read` makes of this row."""
    source: str
    """The file that it stands in."""


class Table(NamedTuple):
    source: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def where(self, row: Row) -> str:
        return place(row.source, row.line)


class Header(NamedTuple):
    """What a table says of itself before its rows."""

    columns: tuple[str, ...]
    text: str | None
    """Column that a reader of documents takes."""


def is_table(source: str | Path) -> bool:
    """Whether `longseq.formats.read` takes this for a table.

    Raises:
        InputError: nothing there, or of no known format.
    """
    if shards(source):
        return True
    with open_bytes(source) as stream:
        return detect(stream) in TABLES


def read_header(source: str | Path, text: str | None = None) -> Header:
    """Names of the columns, of a folder those of its first table; `text` is as in `longseq.formats.read`.

    Raises:
        InputError: as `read_table`.
    """
    rows = open_rows(files((str(source),))[0])
    rows.stream.close()
    return Header(tuple(rows.columns), rows.text(text))


def read_table(source: str | Path, columns: Collection[str] | None = None) -> Table:
    """A table of any kind, plain or packed: TSV, CSV, JSON lines, Parquet, Arrow, or a folder of tables.

    A table that is none of the others and has a tab in its header line is a TSV. Blank lines are passed, cells may be
    quoted as in RFC 4180. The cells of these `columns` are held (None: of all), in the order of the table.

    Raises:
        InputError: nothing there, no UTF-8, a column that is not there, without a name or of a name twice, a row with
            more or fewer cells than columns, no row at all.
    """
    held: list[Row] = []
    names: tuple[str, ...] = ()
    for name in files((str(source),)):
        rows = open_rows(name)
        try:
            names = _wanted(rows, columns)
            held += (_row(rows, row, names) for row in rows.walk({*names, ID}))
        finally:
            rows.stream.close()
        if rows.stream.truncated:
            raise _cut(name)
    if not held:
        raise InputError(where=place(str(source)), expected="rows below the header line", found="none")
    return Table(str(source), names, tuple(held))


def _wanted(rows: Rows, columns: Collection[str] | None) -> tuple[str, ...]:
    for column in columns or ():
        if column not in rows.columns:
            raise rows.without(column)
    return tuple(name for name in rows.columns if columns is None or name in columns)


def _row(rows: Rows, row: RawRow, names: tuple[str, ...]) -> Row:
    if row.cut:
        raise _cut(rows.source)
    if row.fault is not None:
        raise row.fault
    cells = {name: unguarded(as_text(row.cells.get(name)).strip()) for name in names}
    return Row(row.line, cells, rows.name(row), rows.source)


def _cut(name: str) -> InputError:
    return InputError("ends early", where=place(name), remedy="copy or download the file again")
