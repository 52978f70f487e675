"""Bytes that wait on disk until they are read again."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Self

from longseq.errors import LongseqError

IN_MEMORY = 1 << 24
"""Bytes before a file is made."""


class Scratch:
    """Bytes are appended, and read by position. The file has mode 0600 and goes when it is closed or the process dies.

    It lies in `folder`, or where TMPDIR points. `append` and `read` raise LongseqError where the folder takes no more,
    and say that it needs `room`. The first `in_memory` bytes (`IN_MEMORY` unless told) make no file.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        in_memory: int | None = None,
        room: str = "three times the text",
    ):
        self._folder, self._length, self._room = None if folder is None else str(folder), 0, room
        most = IN_MEMORY if in_memory is None else in_memory
        self._file = tempfile.SpooledTemporaryFile(most, dir=self._folder)  # noqa: SIM115 - closed by close()

    def __len__(self) -> int:
        return self._length

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the space back."""
        self._file.close()

    def append(self, data: bytes) -> None:
        """Add bytes at the end."""
        try:
            self._file.seek(self._length)
            self._file.write(data)
        except OSError as error:
            raise self._no_room(error) from None
        self._length += len(data)

    def read(self, start: int, end: int) -> bytes:
        """The bytes `[start, end)`, which were appended before."""
        try:
            self._file.seek(start)  # writes out what was appended last
            return self._file.read(end - start)
        except OSError as error:
            raise self._no_room(error) from None

    def _no_room(self, error: OSError) -> LongseqError:
        return LongseqError(
            f"the spool cannot be written ({error.strerror})",
            where=self._folder or tempfile.gettempdir(),
            remedy=f"set TMPDIR to a folder with room for {self._room}",
        )
