"""Inputs of a run: which of their records are asked for, how far they were read, and what a run says of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from longseq.errors import InputError, place
from longseq.formats import Reading
from longseq.formats.digest import require_digest
from longseq.formats.letters import OnUnknown
from longseq.formats.region import pick_each
from longseq.records import Interval, Kind, Record
from longseq.results.source import SourceRow
from longseq.tasks.shards.part import Part, Span, opened
from longseq.tasks.summarize.model import shift_text

if TYPE_CHECKING:
    from longseq.model import Checkpoint

log = logging.getLogger("longseq")

NAMED = 20
"""Errors kept a file."""
LOWER = bytes(range(ord("a"), ord("z") + 1))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which records of an input are read, and how: the words that all requests share."""

    on_unknown: OnUnknown = "error"
    """A letter that is no DNA letter raises, or is read as N."""
    regions: tuple[Interval, ...] = ()
    """Only these stretches, each of the first record of that name in each input, in the order given."""
    alias: tuple[tuple[str, str], ...] = ()
    """Pairs of names of one record, of which a region may have the other one."""
    strict: bool = False
    """A region that ends past the end of its record is an error, not cut there."""

    def places(self) -> list[list[Any]]:
        """The regions as settings of a run hold them."""
        return [list(astuple(region)) for region in self.regions]


@dataclass
class Source:
    """One input on its way through."""

    file: str
    reading: Reading | None = None
    """While it is open, and after."""
    kind: Kind | None = None
    """Of what it holds, as are the two below; None until it was opened."""
    format: str | None = None
    container: str | None = None
    number: int = 0
    """Place among all inputs of the run; of a shard, among those of its batch."""
    wanted_digest: str | None = None
    """Of the file when it was asked for, which is what it must be when it is opened; None: whatever it is."""
    span: Span | None = None
    """Of a shard, the records that are its own; None: all."""
    records: int = 0
    length: int = 0
    failed: int = 0
    truncated: bool = False
    errors: list[InputError] = field(default_factory=list)
    fault: InputError | None = None
    """Of the file itself."""
    lower: int = 0
    """Letters read in lower case, of records in which it is a mask."""
    cased: int = 0
    """Letters of such records."""

    def open(self, **options: Any) -> Reading:
        """Open it, as `formats.read` does with these options, for the records that are to be read."""
        reading = self.reading = opened(self.file, self.span, **options)
        require_digest(self.file, self.wanted_digest)
        self.kind, self.format, self.container = reading.kind, reading.format.name, reading.container
        log.debug("%s: %s, %s", place(self.file), self.format, self.container)
        return reading

    def fail(self, error: InputError) -> None:
        """A record that cannot be read to its end."""
        self.failed += 1
        self.errors.append(error)
        del self.errors[NAMED:]

    @property
    def all_errors(self) -> list[InputError]:
        """Those of records, then that of the file."""
        return [*self.errors, *([self.fault] if self.fault else [])]

    def row(self) -> SourceRow:
        reading, errors = self.reading, self.all_errors
        return SourceRow(
            file=self.file,
            kind=self.kind,
            format=self.format,
            container=self.container,
            records=self.records,
            length=self.length,
            truncated=self.truncated or (reading is not None and reading.truncated),
            failed=self.failed,
            errors=tuple(map(str, errors)),
        )


def sources_of(files: Sequence[str], part: Part | None = None) -> list[Source]:
    """All inputs, or those that a shard has something of."""
    return [
        Source(file, number=number, span=None if part is None else part.spans[number])
        for number, file in enumerate(files)
        if part is None or number in part.spans
    ]


def asked_of(source: Source, reading: Reading, asked: Asked, **options: Any) -> Iterator[Record]:
    """All records, or those that have the regions, cut to them; `options` are those of `read`, by which the source is
    opened anew. Each region is found by a walk of its own, so that they come in any order.

    Raises:
        InputError: no such record; several regions of what can be read once.
    """
    if not asked.regions:
        for record in reading:
            yield _watched(source, record)
        return

    def again() -> Reading:
        if source.reading is not None:
            source.reading.close()
        return source.open(**options)

    found = pick_each(
        reading,
        asked.regions,
        source=source.file,
        alias=asked.alias,
        again=None if reading.size is None else again,
        strict=asked.strict,
    )
    try:
        for record in found:
            yield _watched(source, record)
    finally:
        if source.reading is not None:
            source.reading.close()


def _watched(source: Source, record: Record) -> Record:
    """The record, of which the source counts the letters in lower case as they pass."""
    if record.kind == "dna" and record.case_is_mask:
        record.pieces = _counted(source, record.pieces)  # type: ignore[arg-type]
    return record


def _counted(source: Source, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        source.lower += len(piece) - len(piece.translate(None, LOWER))
        source.cased += len(piece)
        yield piece


def warn_of_clipping(record: Record) -> None:
    """Say, once the record was read, that it ends before the region does."""
    if "clipped_end" in record.notes:
        log.warning("%s: ends at %s, and the region with it", record.where, f"{record.notes['clipped_end']:,}")


class ModelName(NamedTuple):
    """A model, as far as what is said of inputs speaks of it."""

    name: str
    soft_masked: float | None
    """Share of the letters learned from that were in lower case."""


def require_some(sources: Sequence[Source], model: Checkpoint | ModelName) -> None:
    """Raise the first error where no record could be read because of it; the others are logged. Else say which inputs
    are soft-masked otherwise than what the model learned from."""
    errors = [error for source in sources for error in source.all_errors]
    if errors and not any(source.records for source in sources):
        for other in errors[1:]:
            log.error("%s", other)
        raise errors[0]
    for source in sources:
        here = source.lower / source.cased if source.cased else None
        if (text := shift_text(source.file, here, model.name, model.soft_masked)) is not None:
            log.warning("%s", text)
