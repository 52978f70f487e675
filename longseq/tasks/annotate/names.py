"""What records are called in tracks, tables and features, which go by name: each has one of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from longseq.errors import InputError, UsageError
from longseq.formats.alignments import MATES
from longseq.records import LAST, Interval, Record

_MATE = re.compile(r"([12]):[YN]:\d+(:|$)")
"""How Illumina's software begins the description of a read of a pair (CASAVA 1.8)."""


def require_apart(regions: Sequence[Interval]) -> None:
    """Raise UsageError where a base is asked for twice: a track holds one value of it."""
    ends = dict[str, int]()
    for region in sorted(regions):
        if region.start < ends.get(region.record, 0):
            raise UsageError(
                where=f"regions of {region.record}",
                expected="regions apart from one another",
                found=f"base {region.start + 1:,} in two",
                remedy="join them, or annotate them one at a time",
            )
        ends[region.record] = region.end


def own_name(record: Record) -> str:
    """Its id; of the reads of a pair, which have one id, with /1 or /2 behind it, as `samtools fastq` writes them."""
    if record.description in MATES:
        return f"{record.id}/{MATES.index(record.description) + 1}"
    mate = _MATE.match(record.description)
    return f"{record.id}/{mate[1]}" if mate and record.id else record.id


class Names:
    """Those that were given, and the stretches read of each."""

    def __init__(self, what: str):
        """`what` goes by name."""
        self._what = what
        self._taken: dict[str, list[tuple[int, int]]] = {}

    def give(self, record: Record) -> str:
        """The name of a record whose length is known. Raises what `claim` does."""
        name, start = own_name(record), record.notes.get("offset")
        stretch = (0, LAST) if start is None else (int(start), int(start) + (record.length or 0))
        self.claim(name, record.where, stretch)
        return name

    def claim(self, name: str, where: str, stretch: tuple[int, int] = (0, LAST)) -> None:
        """The name is that of the record that stands there, or of a stretch of it.

        Raises:
            InputError: it is none, or one that stood before, but for another stretch of the same record.
        """
        before = self._taken.setdefault(name, [])
        if not name or any(stretch[0] < end and first < stretch[1] for first, end in before):
            raise InputError(
                where=where,
                expected="a name of its own",
                found="a second one" if name else "none",
                remedy=f"{self._what} go by name: name it",
            )
        before.append(stretch)
