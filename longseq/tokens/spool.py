"""A record's letters on disk, so that its reverse complement can be read without holding the record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from longseq.records import reverse_complement
from longseq.tokens.scratch import Scratch

IN_MEMORY = 1 << 16
"""Letters before a file is made: a file for each short read would take longer than reading it."""


class LetterSpool(Scratch):
    """Letters are appended front to back and read in either direction; few of them wait in memory, more in a file.

    Its methods raise LongseqError where the folder takes no more.
    """

    def __init__(self, folder: str | Path | None = None):
        super().__init__(folder, IN_MEMORY, room="the longest record")

    def pieces(self, start: int, end: int, piece_size: int) -> Iterator[bytes]:
        """The letters `[start, end)` as they came, in pieces of `piece_size`, the last one shorter."""
        for at in range(start, end, piece_size):
            yield self.read(at, min(at + piece_size, end))

    def reversed_complement_pieces(self, piece_size: int) -> Iterator[bytes]:
        """The reverse complement of all letters, in pieces of `piece_size`, the last one shorter."""
        for end in range(len(self), 0, -piece_size):
            yield reverse_complement(self.read(max(end - piece_size, 0), end))
