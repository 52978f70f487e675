"""Tab-separated tables with a header line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from longseq.formats.cells import cell


class TsvWriter:
    """Rows into an open text file, as they come."""

    def __init__(self, file: TextIO, columns: Sequence[str]):
        self._file, self._columns, self._known = file, tuple(columns), frozenset(columns)
        self._line(self._columns)

    def write(self, row: Mapping[str, object]) -> None:
        """One row by column name; what is missing is NA.

        Raises:
            KeyError: a name that is no column.
        """
        if not row.keys() <= self._known:
            unknown = min(row.keys() - self._known)
            raise KeyError(f"no column {unknown!r}; columns: {', '.join(self._columns)}")
        self._line([row.get(name) for name in self._columns])

    def _line(self, values: Sequence[object]) -> None:
        self._file.write("\t".join(map(cell, values)) + "\n")
