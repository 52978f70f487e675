"""NumPy's own file of one array, written row by row."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from longseq.formats.atomic import write_aside


class ArrayWriter:
    """Rows of `width` float32 numbers into an open file; `finish` says how many there are."""

    def __init__(self, file: BinaryIO, width: int):
        self._file, self._width, self._rows = file, width, 0
        self._file.write(self._header())

    def write(self, rows: np.ndarray) -> None:
        """(N, width) more."""
        self._file.write(rows.astype("<f4").tobytes())
        self._rows += len(rows)

    def finish(self) -> None:
        """Write the header anew: NumPy leaves room in it for any number of rows."""
        self._file.seek(0)
        self._file.write(self._header())

    def _header(self) -> bytes:
        buffer, shape = io.BytesIO(), (self._rows, self._width)
        np.lib.format.write_array_header_1_0(buffer, {"descr": "<f4", "fortran_order": False, "shape": shape})
        return buffer.getvalue()


@contextmanager
def array_file(path: str | Path, width: int, *, force: bool = False) -> Iterator[ArrayWriter]:
    """A writer of a file that appears, whole, when the block ends well.

    Raises:
        OutputExistsError, UsageError: as `write_aside` does.
    """
    with write_aside(path, force=force) as aside, open(aside, "wb") as file:
        writer = ArrayWriter(file, width)
        yield writer
        writer.finish()
