"""Where inputs are cut: between records only, so that the part with the most letters has as few as can be."""

from __future__ import annotations

import hashlib
import os
import stat
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from longseq.errors import InputError
from longseq.formats import read
from longseq.formats.digest import same_digest
from longseq.formats.folders import shards
from longseq.formats.vcf import VcfFile
from longseq.log import Progress, Spot
from longseq.tasks.shards.order import Reading
from longseq.tasks.shards.part import Span

BY_BYTES = ("pdf", "docx", "epub")
"""Formats of one document, whose text costs too much to be read for a count: their bytes count for letters."""
VARIANTS = "variants"
"""Kind of a table that is cut between rows, whose alternative alleles count for letters."""
OVERHEAD = 64
"""Letters that a record counts for besides its own."""


@dataclass(frozen=True, kw_only=True)
class InputFacts:
    """What a plan knows of one input."""

    file: str
    """As the user named it."""
    size: int | None
    """Bytes; None where it cannot be read."""
    sha256: str | None
    """Of these bytes; of a data set in a folder, of the digests of its files."""
    kind: str | None = None
    """dna or document; None where it cannot be opened."""
    format: str | None = None
    records: int = 0
    """That its reader gives, before a fault if there is one."""
    letters: int = 0
    """In them; of PDF, DOCX and EPUB, bytes of the file."""


def measured(file: str, reading: Reading, progress: Progress) -> tuple[InputFacts, array[int]]:
    """An input, and what each of its records costs; what cannot be read is an input without records.

    `progress` is told of letters.
    """
    costs = array("q")
    facts = InputFacts(file=file, size=_size(file), sha256=input_digest(file))
    letters = 0
    try:
        if reading.kind == VARIANTS:
            with VcfFile(file) as table:
                for row in table.rows():
                    letters += len(row.variant.alts)
                    costs.append(len(row.variant.alts) + OVERHEAD)
            return replace(facts, kind=VARIANTS, records=len(costs), letters=letters), costs
        with read(file, **reading.options()) as records:
            facts = replace(facts, kind=records.kind, format=records.format.name)
            for record in records:
                length = 0
                if facts.format in BY_BYTES:
                    length = facts.size or 0
                else:
                    spot = Spot(record.id, record.length)
                    try:
                        for piece in record.pieces:
                            length += len(piece)
                            progress.advance(len(piece), record=spot.on(len(piece)))
                    except InputError:  # its shard will say what is wrong with it
                        pass
                letters += length
                costs.append(length + OVERHEAD)
    except InputError:  # so will that which owns the end
        pass
    return replace(facts, records=len(costs), letters=letters), costs


def input_digest(file: str) -> str | None:
    """sha256 of what an input holds; None where there is nothing that can be read twice."""
    try:
        parts = shards(file)
        if not parts:
            return same_digest(file)
        return hashlib.sha256("".join(f"{same_digest(part)}\n" for part in parts).encode()).hexdigest()
    except (OSError, InputError):
        return None


def _size(file: str) -> int | None:
    try:
        paths = shards(file) or (file,)
        return sum(os.stat(path).st_size for path in paths if stat.S_ISREG(os.stat(path).st_mode))
    except (OSError, InputError):
        return None


def bounds(costs: np.ndarray, parts: int) -> list[int]:
    """(parts + 1) record numbers at which `parts` runs of records begin and end.

    costs (R,) int64. The dearest part is as cheap as any cut allows; within that, parts are as even as they come.
    """
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(costs, dtype=np.int64)])
    most = _least_most(total, parts)
    latest = [len(costs)]  # from the back: where each part must begin, at the earliest, for those behind it to suffice
    for _ in range(parts):
        latest.append(int(np.searchsorted(total, total[latest[-1]] - most, "left")))
    earliest = latest[::-1]
    found = [0]
    for i in range(parts):
        start = found[-1]
        furthest = int(np.searchsorted(total, total[start] + most, "right")) - 1
        even = _nearest(total, total[start] + (total[-1] - total[start]) / (parts - i))
        found.append(min(furthest, max(even, earliest[i + 1])))
    return found


def _nearest(total: np.ndarray, value: float) -> int:
    at = min(int(np.searchsorted(total, value)), len(total) - 1)
    return at - 1 if at and value - total[at - 1] < total[at] - value else at


def _least_most(total: np.ndarray, parts: int) -> int:
    """The least cost that `parts` runs suffice for where none costs more."""
    low = int(np.max(np.diff(total), initial=0))
    high = int(total[-1])
    while low < high:
        middle = (low + high) // 2
        at = 0
        for _ in range(parts):
            at = int(np.searchsorted(total, total[at] + middle, "right")) - 1
            if at == len(total) - 1:
                break
        if at == len(total) - 1:
            high = middle
        else:
            low = middle + 1
    return low


def spans(records: Sequence[int], found: Sequence[int]) -> list[dict[int, Span]]:
    """Of each part, its records of each input; an input without records, which has a fault to tell, goes to one."""
    parts: list[dict[int, Span]] = [{} for _ in found[1:]]
    first = 0
    for number, count in enumerate(records):
        if not count:
            parts[next(i for i, end in enumerate(found[1:]) if end >= first)][number] = Span(0, 0, True)
        for part, start, end in zip(parts, found, found[1:], strict=False):
            low, high = max(start - first, 0), min(end - first, count)
            if low < high:
                part[number] = Span(low, high, high == count)
        first += count
    return parts
