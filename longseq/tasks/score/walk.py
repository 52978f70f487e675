"""The strands to score, one after another, and a digest of what was read by which a resumed run knows its inputs."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from longseq.errors import InputError, UsageError
from longseq.formats import Reading, read
from longseq.formats.names import Aliases
from longseq.formats.region import pick
from longseq.records import Interval, Record
from longseq.results.source import SourceRow
from longseq.tasks.score.request import Request
from longseq.tokens.spool import LetterSpool

log = logging.getLogger("longseq")

PIECE = 1 << 16
"""Letters of the other strand read at once."""
NAMED = 20
"""Errors kept a file."""


@dataclass
class Source:
    """One input on its way through."""

    file: str
    reading: Reading | None = None
    records: int = 0
    length: int = 0
    failed: int = 0
    truncated: bool = False
    errors: list[InputError] = field(default_factory=list)
    fault: InputError | None = None
    """Of the file itself."""

    def fail(self, error: InputError) -> None:
        """A record that cannot be read to its end."""
        self.failed += 1
        self.errors.append(error)
        del self.errors[NAMED:]

    def row(self) -> SourceRow:
        reading, errors = self.reading, [*self.errors, *([self.fault] if self.fault else [])]
        return SourceRow(
            file=self.file,
            kind=None if reading is None else reading.kind,
            format=None if reading is None else reading.format.name,
            container=None if reading is None else reading.container,
            records=self.records,
            length=self.length,
            truncated=self.truncated or (reading is not None and reading.truncated),
            failed=self.failed,
            errors=tuple(map(str, errors)),
        )


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

    def __init__(self, request: Request):
        self._request = request
        self._records = 0
        self.sources = [Source(file) for file in request.inputs]

    def strands(self) -> Iterator[tuple[Strand, Iterator[bytes]]]:
        """A file that cannot be read does not stop the others."""
        for source in self.sources:
            try:
                with read(source.file, on_unknown=self._request.on_unknown) as source.reading:
                    yield from self._records_of(source, source.reading)
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
        asked = self._request
        options = {"alias": asked.alias, "strict": asked.strict, "on_unknown": asked.on_unknown}
        for record in asked_of(source, reading, asked.region, **options):  # type: ignore[arg-type]
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


def asked_of(
    source: Source,
    reading: Reading,
    region: Interval | None,
    *,
    alias: Aliases = (),
    strict: bool = False,
    **options: Any,
) -> Iterable[Record]:
    """All records, or the one that has the region, cut to it; `options` are those of `read`.

    Raises:
        InputError: no such record.
    """
    if region is None:
        return reading

    def again() -> Reading:
        source.reading = read(source.file, **options)
        return source.reading

    return [pick(reading, region, alias=alias, again=None if reading.size is None else again, strict=strict)]


def warn_of_clipping(record: Record) -> None:
    """Say, once the record was read, that it ends before the region does."""
    if "clipped_end" in record.notes:
        log.warning("%s: ends at %s, and the region with it", record.where, record.notes["clipped_end"])


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
