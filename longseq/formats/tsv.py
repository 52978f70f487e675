"""Tab-separated tables with a header line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from longseq.formats.cells import NOT_AVAILABLE, cell


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
            NOT_AVAILABLE if value is None else str(value) if type(value) is int else cell(value) for value in values
        ]
        self._file.write("\t".join(cells) + "\n")
