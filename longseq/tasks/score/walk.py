"""The strands to score, one after another, and a digest of what was read by which a resumed run knows its inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from longseq.errors import InputError, UsageError
from longseq.formats import Reading
from longseq.records import Record
from longseq.tasks.score.request import Request
from longseq.tasks.shards.part import Part
from longseq.tasks.sources import Source, asked_of, sources_of, warn_of_clipping
from longseq.tokens.spool import LetterSpool

PIECE = 1 << 16
"""Letters of the other strand read at once."""


@dataclass(frozen=True)
class Strand:
    """A record as it is read in one direction."""

    source: Source
    record: Record
    sign: str
    """`+`, or `-` for the reverse complement."""
    last: bool
    """No other strand of the record follows."""


class Walk:
    """The strands of all records of all inputs, each with its letters, to be walked in order."""

    def __init__(self, request: Request, part: Part | None = None, digests: Sequence[str | None] = ()):
        """Of a shard, those of its part; `digests` as the inputs were asked for, none: whatever they are."""
        self._request = request
        self._records = 0
        self.sources = sources_of(request.inputs, part)
        for source, digest in zip(self.sources, digests, strict=False):
            source.wanted_digest = digest

    def strands(self) -> Iterator[tuple[Strand, Iterator[bytes]]]:
        """A file that cannot be read does not stop the others."""
        for source in self.sources:
            try:
                with source.open(on_unknown=self._request.on_unknown) as reading:
                    yield from self._records_of(source, reading)
            except InputError as error:
                source.fault = error

    def _records_of(self, source: Source, reading: Reading) -> Iterator[tuple[Strand, Iterator[bytes]]]:
        if reading.kind != "dna":
            raise InputError(
                where=source.file,
                expected="sequences of DNA",
                found=f"a {reading.kind}",
                remedy="longseq summarize reads documents",
            )
        for record in asked_of(source, reading, self._request, on_unknown=self._request.on_unknown):
            self._records += 1
            if self._request.one and self._records > 1:
                raise UsageError("is a second record", where=record.where, remedy="a state belongs to one record")
            if self._request.strands == "forward":
                yield Strand(source, record, "+", True), _letters(record)
                continue
            with LetterSpool() as spool:
                yield Strand(source, record, "+", False), _kept(record, spool)
                if record.length == len(spool):
                    yield Strand(source, record, "-", True), spool.reversed_complement_pieces(PIECE)


def _letters(record: Record) -> Iterator[bytes]:
    for piece in record.pieces:
        assert isinstance(piece, bytes)
        yield piece
    warn_of_clipping(record)


def _kept(record: Record, spool: LetterSpool) -> Iterator[bytes]:
    for piece in _letters(record):
        spool.append(piece)
        yield piece
    record.length = len(spool)


class Fingerprint:
    """A digest of the strands read so far; those that failed do not count, wherever they failed."""

    def __init__(self) -> None:
        self._before = self._now = hashlib.sha256()

    def begin(self, strand: Strand) -> None:
        self._now = self._before.copy()
        self._now.update(f"{strand.source.file}\n{strand.record.id}\n{strand.sign}\n".encode(errors="surrogateescape"))

    def add(self, ids: np.ndarray) -> None:
        """ids (T,) uint8 of the strand's next tokens."""
        self._now.update(ids.tobytes())

    def end(self) -> None:
        self._before = self._now

    def digest(self) -> str:
        return self._now.hexdigest()
