"""Which records of which inputs are a shard's own, and a reading that gives these and no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from longseq.formats import Reading, read
from longseq.records import Record


class Span(NamedTuple):
    """Records `[first, last)` of an input, in the order in which its reader gives them, 0-based."""

    first: int
    last: int
    end: bool
    """What comes behind the last record is the shard's, too: that the file was cut there, or its fault."""


@dataclass(frozen=True)
class Part:
    """What is a shard's own."""

    number: int
    """From 1 to `of`."""
    of: int
    spans: Mapping[int, Span]
    """By the input's place among all inputs of the batch, 0-based; inputs that are not there are others'."""

    @property
    def name(self) -> str:
        """`3-of-8`, also of its folder."""
        return name_of(self.number, self.of)


def name_of(number: int, of: int) -> str:
    """`3-of-8`."""
    return f"{number}-of-{of}"


def opened(source: str, span: Span | None = None, **options: Any) -> Reading:
    """An input, as `formats.read` opens it with these options; of a shard its own records alone.

    Raises:
        InputError: as `formats.read` does.
    """
    reading = read(source, **options)
    return reading if span is None else PartReading(reading, span)


class PartReading(Reading):
    """The records of a span of a reading; those before it are passed over and say nothing.

    A record that is passed over is not walked. Behind the last one, the file is read on only where its end is the
    shard's own; then whatever is wrong there is raised and `truncated` is told, as by the whole reading.
    """

    def __init__(self, reading: Reading, span: Span):
        self._reading, self._span, self._given = reading, span, 0
        self.source, self.container, self.format = reading.source, reading.container, reading.format

    @property
    def truncated(self) -> bool:
        return self._span.end and self._reading.truncated

    @property
    def position(self) -> int:
        return self._reading.position

    @property
    def size(self) -> int | None:
        return self._reading.size

    def __next__(self) -> Record:
        while self._given < self._span.first:
            next(self._reading)
            self._given += 1
        if self._given >= self._span.last and not self._span.end:
            self._reading.close()
            raise StopIteration
        record = next(self._reading)
        self._given += 1
        return record

    def close(self) -> None:
        self._reading.close()
