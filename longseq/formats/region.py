"""A stretch of one record: found by name, cut out of the stream, nothing behind it read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from longseq.errors import InputError, UsageError, alike, place
from longseq.formats.names import Aliases, match
from longseq.records import LAST, Interval, Record

log = logging.getLogger("longseq")

_REMEMBERED = 10_000
"""Names kept to suggest near ones from."""


def pick(
    records: Iterable[Record],
    interval: Interval,
    *,
    alias: Aliases = (),
    again: Callable[[], Iterable[Record]] | None = None,
    strict: bool = False,
) -> Record:
    """The first record named `interval.record`, else the one of another spelling, cut to the interval.

    Args:
        alias: pairs of names of one record.
        again: opens the source anew, since that no record has the very name is known at its end only; None: it cannot
            be, and a record of another spelling is an error that names it.
        strict: an end past the end of the record is an error.

    Raises:
        InputError: no record has that name, and near names are listed; or several have a like one.
    """
    names: list[str] = []
    found: list[Record] = []
    source, count = "", 0

    def others() -> Iterator[str]:
        nonlocal source, count
        for record in records:
            if record.id == interval.record:
                found.append(record)
                return
            source, count = record.source, count + 1
            if len(names) < _REMEMBERED:
                names.append(record.id)
            yield record.id

    try:
        matched = match([interval.record], others(), alias)
    except InputError:
        if not found:  # of names like it there are several, but the very one
            raise
    if found:
        return cut(found[0], interval, strict=strict)
    meant = matched.mapping.get(interval.record)
    if meant is not None and again is not None:
        for note in matched.notes:
            log.warning("%s: %s", place(source), note)
        return cut(next(record for record in again() if record.id == meant), interval, strict=strict)
    near = [meant] if meant is not None else alike(interval.record, names, most=3)
    shown = ", ".join(map(_spelled, names[:5]))
    listed = f"did you mean {' or '.join(map(_spelled, near))}?" if near else f"names in it: {shown}"
    raise InputError(
        where=source or None,
        expected=f"a record named {interval.record!r}",
        found="1 other" if count == 1 else f"{count:,} others",
        remedy=listed + (" …" if not near and count > 5 else ""),
    )


def pick_each(
    records: Iterable[Record],
    intervals: Sequence[Interval],
    *,
    source: str,
    alias: Aliases = (),
    again: Callable[[], Iterable[Record]] | None = None,
    strict: bool = False,
) -> Iterator[Record]:
    """`pick` for each interval, by a walk of its own, so that they may overlap and come in any order.

    Args:
        records: The source's, opened already, for the first walk.
        source: What is read, for errors.
        again: opens it anew, and closes what was open before; None: it can be read once.

    Raises:
        InputError: as `pick`; several intervals of what can be read once.
    """
    if len(intervals) > 1 and again is None:
        found = str(len(intervals))
        raise InputError(
            where=place(source), expected="one region of what can be read once", found=found, remedy="name a file"
        )
    known: dict[str, str] = {}  # another spelling is looked for once: it takes a walk to the end
    for number, interval in enumerate(intervals):
        walk = again() if number and again is not None else records
        meant = replace(interval, record=known.get(interval.record, interval.record))
        record = pick(walk, meant, alias=alias, again=again, strict=strict)
        known[interval.record] = record.id
        yield record


def _spelled(name: str) -> str:
    """The whole record as a region: a name that ends like a range needs one behind it."""
    try:
        plain = Interval.parse(name) == Interval(record=name, start=0, end=LAST)
    except UsageError:
        plain = False
    return name if plain else f"{name}:1-"


def cut(record: Record, interval: Interval, *, strict: bool = False) -> Record:
    """`record` with the letters of `[start, end)` only, and `notes["offset"]`, where they began in the whole record.

    A part of a circle is none. A region that is named without places is the whole record, and no part.

    Reading stops at the end of the interval. An end past the end of the record is clipped, and unless it was left open
    `notes["clipped_end"]` then says where the record ended.

    Raises:
        InputError: from the pieces, when the interval starts past the end of the record, or ends there with `strict`.
    """
    if interval.start == 0 and interval.end == LAST:
        return record
    notes = {**record.notes, "offset": interval.start}
    piece = replace(record, pieces=iter(()), length=None, topology=None, notes=notes)
    if record.quality is not None:
        piece.quality = record.quality[interval.start : interval.end]
    piece.pieces = _slices(record, piece, interval, strict)  # type: ignore[assignment]
    return piece


def _slices(whole: Record, part: Record, interval: Interval, strict: bool) -> Iterator[bytes | str]:
    at = 0
    for piece in whole.pieces:
        start, end = max(interval.start - at, 0), min(interval.end - at, len(piece))
        at += len(piece)
        if start < end:
            yield piece[start:end]
        if at >= interval.end:
            part.length = len(interval)
            break
    else:
        part.truncated = whole.truncated
        part.length = max(at - interval.start, 0)
        if interval.start > 0 and interval.start >= at and len(interval):
            raise InputError(
                where=whole.where,
                expected=f"a region that starts before the end, at {at:,}",
                found=f"a start at {interval.start + 1:,} (1-based)",
            )
        if at < interval.end != LAST and strict:
            raise InputError(
                where=whole.where,
                expected=f"a region that ends at {at:,} or before",
                found=f"an end at {interval.end:,}",
            )
        if at < interval.end != LAST:
            part.notes = {**part.notes, "clipped_end": at}
    added = {key: value for key, value in whole.notes.items() if key not in part.notes}
    part.notes = {**part.notes, **added}
