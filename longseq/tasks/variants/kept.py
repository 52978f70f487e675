"""What windows cost, each by a digest of its letters; in a file beside the output, which a stopped run goes on from.

A line of settings, then 24 bytes a window: 16 of the digest, 8 of the bits. A window's bits are a matter of its letters
alone, so that whatever stands in the file is good, and a run that goes on has the same bytes in the end.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from longseq.errors import OutputExistsError, StateError, UsageError
from longseq.formats.jsonfile import parsed
from longseq.formats.lock import hold
from longseq.formats.paths import hidden
from longseq.tasks.score.work import said
from longseq.tasks.working import ANEW, differences

SCHEMA = "longseq.variants.run/1"
DIGEST = 16
"""Bytes of one."""
ROW = np.dtype([("digest", "S16"), ("bits", "<f8")])
EVERY = 256
"""Windows between two moments at which the file is flushed."""


def digest(window: bytes) -> bytes:
    """16 bytes that tell windows apart."""
    return hashlib.blake2b(window, digest_size=DIGEST).digest()


class Kept:
    """Bits by digest."""

    def __init__(self) -> None:
        self._bits: dict[bytes, float] = {}
        self._file: BinaryIO | None = None
        self._unsaved = 0
        self.path: Path | None = None

    def __contains__(self, key: bytes) -> bool:
        return key in self._bits

    def __getitem__(self, key: bytes) -> float:
        return self._bits[key]

    def __setitem__(self, key: bytes, bits: float) -> None:
        self._bits[key] = bits
        if self._file is None or self.path is None:
            return
        with said(self.path):
            self._file.write(np.array([(key, bits)], ROW).tobytes())
            self._unsaved += 1
            if self._unsaved >= EVERY:
                self.save()

    def __len__(self) -> int:
        return len(self._bits)

    def items(self) -> Iterable[tuple[bytes, float]]:
        return self._bits.items()

    def open(self, out: Path, settings: dict[str, Any], *, resume: bool, force: bool) -> None:
        """Keep bits in a hidden file beside `out`, and take up what stands in it.

        Raises:
            OutputExistsError: another run is writing there, or one that was stopped lies there and neither `resume`
                nor `force` is set.
            UsageError: what stands there is not ours.
            StateError: it was begun with other settings.
        """
        path = hidden(out, ".partial")
        foreign = UsageError("is no file that a run of score left", where=str(path), remedy="move it away")
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError as error:
            raise (foreign if path.exists() or path.is_symlink() else error) from None
        file = open(handle, "r+b")  # noqa: SIM115 - closed by close()
        try:
            hold(handle, path)
            first = file.readline(1 << 20)
            then = _settings(first)
            if first and then is None:
                raise foreign
            if first and not (resume or force):
                raise OutputExistsError(
                    "holds a run that was stopped",
                    where=str(path),
                    remedy="--resume goes on with it, --force starts it anew",
                )
            if then is not None and resume:
                self._take(file, path, then, settings)
            else:
                file.truncate(0)
                file.seek(0)
                file.write(json.dumps(settings).encode() + b"\n")
        except BaseException:
            file.close()
            raise
        self._file, self.path = file, path

    def _take(self, file: BinaryIO, path: Path, then: dict[str, Any], settings: dict[str, Any]) -> None:
        for name, was, now in differences(then, settings):
            raise StateError(
                where=str(path),
                expected=f"{name} {was!r}, with which the run began",
                found=repr(now),
                remedy=f"a resumed run keeps it; {ANEW}",
            )
        start = file.tell()
        data = file.read()
        rows = np.frombuffer(data[: len(data) // ROW.itemsize * ROW.itemsize], ROW)
        # A string of bytes in an array loses zeros at its end.
        self._bits = {bytes(row["digest"]).ljust(16, b"\0"): float(row["bits"]) for row in rows}
        file.truncate(start + rows.nbytes)
        file.seek(0, os.SEEK_END)

    def save(self) -> None:
        """All so far is on disk."""
        if self._file is not None and self.path is not None:
            with said(self.path):
                self._file.flush()
                os.fsync(self._file.fileno())
            self._unsaved = 0

    def close(self, *, keep: bool) -> None:
        """Leave the file to a later run where something stands in it, or remove it."""
        if self._file is None or self.path is None:
            return
        if not (keep and self._bits):
            self.path.unlink(missing_ok=True)
        with suppress(OSError):  # what could not be written was said before
            self._file.close()
        self._file = None


def _settings(line: bytes) -> dict[str, Any] | None:
    """Of a line that we wrote."""
    try:
        found = parsed(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None
