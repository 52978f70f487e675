"""A reference of any size, its letters on disk, so that any stretch of it can be fetched."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from longseq.formats import read
from longseq.formats.letters import OnUnknown
from longseq.streaming.rows import RowSpool

log = logging.getLogger("longseq")

_UPPER = bytes(ord("T") if chr(c) in "Uu" else ord(chr(c).upper()) if c < 128 else c for c in range(256))


class Reference:
    """The records of a file of sequences, spooled once: a byte a base where TMPDIR says. Close it."""

    def __init__(self, source: str | Path, *, on_unknown: OnUnknown = "error"):
        """Raises InputError: the source is no file of sequences; LongseqError: there is no room for the spool."""
        self.source = str(source)
        self._spool = RowSpool(1, np.uint8)
        self._places: dict[str, tuple[int, int]] = {}
        at = 0
        try:
            with read(source, kind="dna", on_unknown=on_unknown) as reading:
                for record in reading:
                    start = at
                    for piece in record.pieces:
                        assert isinstance(piece, bytes)
                        letters = np.frombuffer(piece.translate(_UPPER), np.uint8)
                        self._spool.write(at, letters[:, None])
                        at += len(letters)
                    if record.id in self._places:
                        log.warning("%s: a second record of this name, which is left out", record.where)
                    else:
                        self._places[record.id] = (start, at - start)
                self.truncated = reading.truncated
                self.container, self.format = reading.container, reading.format.name
        except BaseException:
            self.close()
            raise
        self.bases = at

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    def length(self, record: str) -> int:
        """Bases of a record."""
        return self._places[record][1]

    def fetch(self, record: str, start: int, end: int) -> bytes:
        """Bases `[start, end)` of a record in capitals, U as T; what lies outside the record is left out."""
        offset, length = self._places[record]
        start, end = max(start, 0), min(end, length)
        return b"" if start >= end else self._spool.read(offset + start, offset + end).tobytes()

    def close(self) -> None:
        self._spool.close()

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
