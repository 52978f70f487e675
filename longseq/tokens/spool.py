"""A record's letters on disk, so that its reverse complement can be read without holding the record."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from longseq.errors import LongseqError
from longseq.records import reverse_complement

IN_MEMORY = 1 << 16
"""Letters before a file is made: a file for each short read would take longer than reading it."""


class LetterSpool:
    """Letters are appended front to back and read in either direction; few of them wait in memory, more in a file.

    The file has mode 0600. It lies in `folder`, or where TMPDIR points, and has no name on systems that allow it, so
    that it goes when the spool is closed and when the process dies.
    """

    def __init__(self, folder: str | Path | None = None):
        folder = None if folder is None else str(folder)
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=folder)  # noqa: SIM115 - closed by close()
        self._folder, self._length = folder, 0

    def __len__(self) -> int:
        return self._length

    def __enter__(self) -> LetterSpool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the disk space back."""
        self._file.close()

    def append(self, letters: bytes) -> None:
        """Add letters at the end.

        Raises:
            LongseqError: the folder takes no more.
        """
        try:
            self._file.seek(self._length)
            self._file.write(letters)
        except OSError as error:
            raise _no_room(self._folder, error) from None
        self._length += len(letters)

    def pieces(self, start: int, end: int, piece_size: int) -> Iterator[bytes]:
        """The letters `[start, end)` as they came, in pieces of `piece_size`, the last one shorter.

        Raises:
            LongseqError: the last letters could not be written.
        """
        for at in range(start, end, piece_size):
            yield self._read(at, min(at + piece_size, end))

    def reversed_complement_pieces(self, piece_size: int) -> Iterator[bytes]:
        """The reverse complement of all letters, in pieces of `piece_size`, the last one shorter.

        Raises:
            LongseqError: the last letters could not be written.
        """
        for end in range(self._length, 0, -piece_size):
            yield reverse_complement(self._read(max(end - piece_size, 0), end))

    def _read(self, start: int, end: int) -> bytes:
        try:
            self._file.seek(start)  # writes out what was appended last
            return self._file.read(end - start)
        except OSError as error:
            raise _no_room(self._folder, error) from None


def _no_room(folder: str | Path | None, error: OSError) -> LongseqError:
    return LongseqError(
        f"the spool cannot be written ({error.strerror})",
        where=str(folder or tempfile.gettempdir()),
        remedy="set TMPDIR to a folder with room for the longest record",
    )
