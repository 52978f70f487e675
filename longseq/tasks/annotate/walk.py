"""The records of a file one by one; what cannot be read of it is told and does not stop the others."""

from __future__ import annotations

from collections.abc import Callable

from longseq.errors import InputError
from longseq.formats import read
from longseq.formats.letters import OnUnknown
from longseq.log import Progress
from longseq.records import Record
from longseq.results.source import SourceRow

NAMED = 20
"""Errors kept."""


def walk(
    source: str, on_unknown: OnUnknown, progress: Progress, handle: Callable[[Record], int], *, told: str
) -> SourceRow:
    """Hand each record, which has a name of its own, to `handle`, which gives its length; the file as it was read.

    An InputError of a record, from its pieces, is kept in the row. `told` says what a name is wanted for.

    Raises:
        InputError: the file cannot be read, or none of its records.
    """
    records = length = failed = 0
    truncated, seen = False, set[str]()
    errors: list[InputError] = []
    progress.start("annotate", None, "base")
    try:
        with read(source, on_unknown=on_unknown) as reading:
            if reading.kind != "dna":
                raise InputError(where=reading.source, expected="sequences", found=f"a {reading.kind}")
            try:
                for record in reading:
                    try:
                        _require_name(record, seen, told)
                        length += handle(record)
                    except InputError as error:
                        failed += 1
                        errors.append(error)
                    else:
                        seen.add(record.id)
                        records += 1
                        truncated |= record.truncated
            except InputError as error:  # of the file itself
                errors.append(error)
    finally:
        progress.finish()
    if errors and not records:
        raise errors[0]
    return SourceRow(
        file=source,
        kind=reading.kind,
        format=reading.format.name,
        container=reading.container,
        records=records,
        length=length,
        truncated=truncated or reading.truncated,
        failed=failed,
        errors=tuple(str(error) for error in errors[:NAMED]),
    )


def _require_name(record: Record, seen: set[str], told: str) -> None:
    if not record.id or record.id in seen:
        found = "a second one" if record.id else "none"
        raise InputError(where=record.where, expected="a name of its own", found=found, remedy=f"{told}: name it")
