"""Rows of tables, whatever they are written in: their columns, their names, and the text of a cell."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple, Protocol

from longseq.errors import InputError, meant, place
from longseq.formats.cells import unguarded
from longseq.formats.containers import ByteStream, Container
from longseq.formats.known import document_name

ID, TITLE = "id", "title"
"""Columns that name a row."""
TEXTS = ("text", "sequence")
"""Columns that hold the text of a row, the first one that is there."""
_OTHERS = (ID, TITLE, "label", "group")


class Source(Protocol):
    """What is read, and how far."""

    source: str
    container: Container
    truncated: bool

    @property
    def position(self) -> int: ...
    @property
    def size(self) -> int | None: ...
    def close(self) -> None: ...


class RawRow(NamedTuple):
    """A row as it lies in its table."""

    number: int
    """1-based place by which a row without an id is named: of the row, in JSON lines of the line."""
    line: int
    """1-based place for people: of the line, of a row over several the last one; of the row where there are no
    lines."""
    cells: Mapping[str, Any]
    """By column: text, numbers, lists, None."""
    fault: InputError | None = None
    """Why there are no cells."""
    cut: bool = False
    """The table ended too early, inside this row or behind it."""


class Rows(ABC):
    """A table that is open: its columns are known, its rows can be walked once."""

    source: str
    stream: Source
    columns: Mapping[str, bool]
    """By name whether a column is known to hold text; empty where columns cannot be told."""

    @abstractmethod
    def walk(self, wanted: Collection[str] | None = None) -> Iterator[RawRow]:
        """The rows, with the cells of these columns and maybe others; None: all.

        Raises:
            InputError: the table cannot be read on.
        """

    def require_text(self, column: str) -> None:
        """Look ahead whether the texts in a column are more than their bytes can hold; see `ByteStream.require_text`.

        Raises:
            BombError: they are.
        """
        if isinstance(self.stream, ByteStream):
            self.stream.require_text()

    def name(self, row: RawRow) -> str:
        """Id of a row: its cell in the column `id`, else the file's name without suffixes and the row's number."""
        given = unguarded(as_text(row.cells.get(ID)).strip())
        return given or f"{_stem(self.source)}:{row.number}"

    def text(self, asked: str | None = None) -> str | None:
        """The column with the texts: `asked`, else `text`, `sequence`, or the only one that is known to hold text."""
        if asked is not None:
            return asked if asked in self.columns else None
        for name in TEXTS:
            if name in self.columns:
                return name
        some = [name for name, text in self.columns.items() if text and name not in _OTHERS]
        return some[0] if len(some) == 1 else None

    def without(self, column: str, remedy: str | None = None) -> InputError:
        """For a column that is asked for and not there."""
        some = list(self.columns)
        found = ", ".join(some[:12]) + (f" and {len(some) - 12} more" if len(some) > 12 else "")
        remedy = " ".join(filter(None, (meant(column, some), remedy))) or None
        return InputError(
            where=place(self.source), expected=f"a column {column!r}", found=f"the columns {found}", remedy=remedy
        )


def checked(names: Collection[str], where: str) -> tuple[str, ...]:
    """The names of columns, once they are known to be good.

    Raises:
        InputError: a column without a name or of a name twice, or no column.
    """
    names = tuple(names)
    if not any(names):
        raise InputError(where=where, expected="a header line with names of columns", found="none")
    seen: set[str] = set()
    for i, column in enumerate(names):
        if not column:
            raise InputError(where=where, expected=f"a name of column {i + 1}", found="none")
        if column in seen:
            raise InputError(where=where, expected="names of columns once each", found=f"{column!r} twice")
        seen.add(column)
    return names


def as_text(value: Any) -> str:
    """A cell as text: nothing and NaN are empty, the parts of a list are separated by `;`."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ";".join(map(as_text, value))
    return str(value)


def _stem(source: str) -> str:
    path = PurePath(document_name(source))
    return path.stem or Path(source).absolute().name
