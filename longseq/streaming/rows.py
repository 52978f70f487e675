"""Rows of numbers on disk: what one pass over a record leaves for the next, in any order."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO

import numpy as np

from longseq.errors import LongseqError


class RowSpool:
    """A temporary file of rows of `width` numbers, written and read by row number.

    It lies in `folder`, or where TMPDIR points, has mode 0600 and, on systems that allow it, no name, so that it goes
    when the spool is closed and when the process dies. With `path` it is a file of that name, which stays, and holds
    what an earlier one wrote there.
    """

    def __init__(
        self,
        width: int,
        dtype: np.dtype | type | str,
        folder: str | Path | None = None,
        *,
        path: Path | None = None,
    ):
        self.width, self.dtype, self._folder = width, np.dtype(dtype), path or folder
        self._kept = path is not None
        self._file: IO[bytes]
        try:
            if path is not None:
                self._file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")  # noqa: SIM115
            else:
                self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise self._no_room(error) from None

    def __enter__(self) -> RowSpool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the disk space back."""
        self._file.close()

    @property
    def rows(self) -> int:
        """Whole rows up to the last one that was written."""
        return os.fstat(self._file.fileno()).st_size // (self.width * self.dtype.itemsize)

    def write(self, start: int, rows: np.ndarray) -> None:
        """Put rows (T, width) at row `start`.

        Raises:
            LongseqError: the folder takes no more.
        """
        try:
            self._file.seek(start * self.width * self.dtype.itemsize)
            self._file.write(np.ascontiguousarray(rows, self.dtype).tobytes())
            self._file.flush()
        except OSError as error:
            raise self._no_room(error) from None

    def read(self, start: int, stop: int) -> np.ndarray:
        """Rows `start` … `stop`, (T, width), all of them written before."""
        self._file.seek(start * self.width * self.dtype.itemsize)
        found = self._file.read((stop - start) * self.width * self.dtype.itemsize)
        return np.frombuffer(bytearray(found), self.dtype).reshape(-1, self.width)

    def _no_room(self, error: OSError) -> LongseqError:
        there = "set TMPDIR to a folder with room for the hidden vectors of the longest record"
        return LongseqError(
            f"the spool cannot be written ({error.strerror})",
            where=str(self._folder or tempfile.gettempdir()),
            remedy="make room, then go on with --resume" if self._kept else there,
        )
