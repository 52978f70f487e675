"""What a shard says of its inputs, and the whole inputs that the shards' parts make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from longseq.config import from_mapping
from longseq.errors import InputError
from longseq.records import Kind
from longseq.tasks.sources import NAMED, Source, sources_of

FIRST = ("kind", "format", "container")
"""Alike in all parts."""
SUMS = ("records", "length", "failed", "lower", "cased")


@dataclass(frozen=True, kw_only=True)
class SourcePart:
    """One input, as far as a shard has read it."""

    number: int
    """Place among all inputs of the batch, 0-based."""
    kind: Kind | None
    format: str | None
    container: str | None
    records: int
    length: int
    failed: int
    truncated: bool
    errors: tuple[str, ...]
    """Of records; `NAMED` at most."""
    fault: str | None
    """Of the file itself."""
    lower: int
    cased: int

    @classmethod
    def of(cls, source: Source) -> SourcePart:
        """What a source says after it was read."""
        return cls(
            **{name: getattr(source, name) for name in ("number", *FIRST, *SUMS)},
            truncated=source.row().truncated,
            errors=tuple(map(str, source.errors)),
            fault=None if source.fault is None else str(source.fault),
        )

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> SourcePart:
        """From JSON."""
        return from_mapping(cls, plain)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def joined(files: Sequence[str], parts: Iterable[SourcePart]) -> list[Source]:
    """All inputs, from their parts in the order of the shards; they are not open any more."""
    found = sources_of(files)
    for part in parts:
        source = found[part.number]
        for name in FIRST:
            setattr(source, name, getattr(source, name) or getattr(part, name))
        for name in SUMS:
            setattr(source, name, getattr(source, name) + getattr(part, name))
        source.truncated |= part.truncated
        source.errors += map(InputError, part.errors)
        del source.errors[NAMED:]
        if part.fault is not None:
            source.fault = InputError(part.fault)
    return found
