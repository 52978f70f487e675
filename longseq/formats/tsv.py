"""Tab-separated tables with a header line; text in them is no formula (see `longseq.formats.cells.guarded`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from longseq.formats.cells import NOT_AVAILABLE, cell, guarded


class TsvWriter:
    """Rows into an open text file, as they come."""

    def __init__(self, file: TextIO, columns: Sequence[str]):
        self._file, self._columns, self._known = file, tuple(columns), frozenset(columns)
        self.line(self._columns)

    def write(self, row: Mapping[str, object]) -> None:
        """One row by column name; what is missing is NA.

        Raises:
            KeyError: a name that is no column.
        """
        if not row.keys() <= self._known:
            unknown = min(row.keys() - self._known)
            raise KeyError(f"no column {unknown!r}; columns: {', '.join(self._columns)}")
        self.line(map(row.get, self._columns))

    def line(self, values: Iterable[object]) -> None:
        """One row, a value for each column in order."""
        # A table may have a row a read, most cells of which hold nothing or a whole number.
        cells = [
            NOT_AVAILABLE if value is None else str(value) if type(value) is int else _text(value) for value in values
        ]
        self._file.write("\t".join(cells) + "\n")


_MARKS = frozenset("=+-@＝＋－＠'\"")


def _text(value: object) -> str:
    text = cell(value)
    return guarded(text) if text[:1] in _MARKS and isinstance(value, str) else text
