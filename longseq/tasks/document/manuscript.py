"""The text of a document on disk, read back by code points."""

from __future__ import annotations

import hashlib
from array import array
from pathlib import Path
from typing import NamedTuple

from longseq.tokens.scratch import Scratch

STEP = 1 << 13
"""Code points between two places whose byte offset is known."""


class Passage(NamedTuple):
    """A slice of the text."""

    text: str
    byte_start: int
    """First byte in the text's UTF-8."""
    byte_end: int
    """One past the last byte."""


class Manuscript:
    """Takes a text piece by piece, then gives any slice of it. Use as a context manager: it is a temporary file.

    In memory it keeps 8 bytes for every `STEP` code points. Half a surrogate pair, which UTF-8 has no bytes for, is
    written as its three bytes of UTF-8's pattern.
    """

    def __init__(self, folder: str | Path | None = None):
        self._file = Scratch(folder)
        self._digest = hashlib.sha256()
        self._rest, self._length = "", 0
        self._bytes = array("q", [0])  # byte offset of every STEP-th code point

    def __enter__(self) -> Manuscript:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the space back."""
        self._file.close()

    def __len__(self) -> int:
        """Code points so far."""
        return self._length

    def begin(self) -> None:
        """Another text begins here: digests are of what comes after."""
        self._digest = hashlib.sha256()

    def append(self, piece: str) -> None:
        """Add letters at the end."""
        self._digest.update(_encode(piece))
        self._length += len(piece)
        text, at = self._rest + piece, 0
        while len(text) - at >= STEP:
            self._write(text[at : at + STEP])
            at += STEP
        self._rest = text[at:]

    def sha256(self) -> str:
        """Digest of the UTF-8 text since it began, in hexadecimal."""
        return self._digest.hexdigest()

    def read(self, start: int, end: int) -> Passage:
        """The code points `[start, end)`, which were appended before."""
        first, last = start // STEP, -(-end // STEP)
        known = len(self._bytes) - 1  # whole steps on disk
        data = self._file.read(self._bytes[first], self._bytes[min(last, known)])
        text = data.decode("utf-8", "surrogatepass") + (self._rest if last > known else "")
        start, end = start - first * STEP, end - first * STEP
        byte_start = self._bytes[first] + len(_encode(text[:start]))
        return Passage(text[start:end], byte_start, byte_start + len(_encode(text[start:end])))

    def _write(self, text: str) -> None:
        self._file.append(_encode(text))
        self._bytes.append(len(self._file))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
