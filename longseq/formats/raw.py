"""Bytes of a file or of standard input as they lie there, still packed."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from typing import Any

from longseq.errors import InputError, place

DAMAGED = "copy or download the file again"
PATIENCE, LOOK = 60.0, 0.1
"""Seconds in which somebody is to open a named pipe for writing, and how often is looked."""


class Raw:
    """With a first look that does not use them up."""

    def __init__(self, source: str):
        self.source, self.position, self.size = source, 0, None  # type: str, int, int | None
        self._start = b""
        self._file: int | None = None
        self._opened: tuple[int, int] | None = None
        """By what a change of a file is known."""
        self._pipe: Any = None
        if source == "-":
            if sys.stdin is None:
                raise InputError("is closed", where=place(source), remedy="name a file")
            # Beneath the buffer: a thread that waits for data inside it would keep the program from ending.
            buffer: Any = sys.stdin.buffer
            raw = getattr(buffer, "raw", None)
            self._pipe = buffer.read1 if raw is None else raw.read
            return
        try:
            self._file = os.open(source, os.O_RDONLY | os.O_NONBLOCK)  # a named pipe opens once it has a writer
            status = os.fstat(self._file)
        except FileNotFoundError:
            raise InputError("no such file", where=source, remedy="check the path") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot be read: {reason}", where=repr(source), remedy="check its permissions") from None
        if stat.S_ISDIR(status.st_mode):
            self.close()
            raise InputError("is a directory", where=source, remedy=f"name files in it: {source.rstrip('/')}/*")
        if stat.S_ISFIFO(status.st_mode):
            self._await_writer()
        os.set_blocking(self._file, True)
        if stat.S_ISREG(status.st_mode):
            self.size = status.st_size
            self._opened = marks(status)

    def _await_writer(self) -> None:
        assert self._file is not None
        poll, until = select.poll(), time.monotonic() + PATIENCE
        poll.register(self._file, select.POLLIN)
        while not poll.poll(1000 * LOOK):
            try:
                self._start = os.read(self._file, 1)
            except BlockingIOError:  # it is open for writing, and nothing came yet
                return
            if self._start:
                return
            if time.monotonic() > until:
                self.close()
                found = f"expected something that writes to this pipe, found nothing in {PATIENCE:.0f} s"
                raise InputError(found, where=place(self.source), remedy="begin it first")

    def _take(self, size: int) -> bytes:
        if self._pipe is not None:
            return self._pipe(size) or b""
        if self._file is None:
            raise InputError("was closed while it was read", where=self.source)
        piece = os.read(self._file, size)
        if not piece:
            self.require_same()
        return piece

    def require_same(self) -> None:
        """Raise where the file has changed since it was opened."""
        if self._file is not None and self._opened not in (None, marks(os.fstat(self._file))):
            raise changed(self.source)

    def read(self, size: int) -> bytes:
        if self._start:
            piece, self._start = self._start, b""
        else:
            try:
                piece = self._take(size)
            except OSError as error:
                raise InputError(
                    f"cannot be read: {error.strerror or error}", where=place(self.source), remedy=DAMAGED
                ) from None
        self.position += len(piece)
        return piece

    def peek(self, size: int) -> bytes:
        while len(self._start) < size and (piece := self._take(size - len(self._start))):
            self._start += piece
        return self._start

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    __del__ = close  # a reader may be dropped half way: the last name that goes closes the file


def marks(status: os.stat_result) -> tuple[int, int]:
    """Size and time of the last change; in seconds, since file systems of a network may forget the rest meanwhile."""
    return status.st_size, int(status.st_mtime)


def changed(source: str) -> InputError:
    """Of a file that was another one when it was looked at before."""
    return InputError("changed while it was read", where=place(source), remedy="run again once nothing writes to it")
