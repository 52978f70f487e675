"""How many letters a file holds, without reading all of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING

from longseq.errors import InputError
from longseq.formats import Reading, read
from longseq.tasks.summarize.request import Request, options_of

if TYPE_CHECKING:
    from longseq.tasks.sources import Asked

SAMPLE = 1 << 21
"""Letters looked at to estimate how many a file holds."""


def estimate_all(sources: Iterable[str], asked: Asked) -> int | None:
    """The sum over several files; None where one is no file of DNA."""
    request = Request(on_unknown=asked.on_unknown, regions=asked.regions)
    found = [estimate_letters(source, request) for source in sources]
    return None if None in found else sum(number for number in found if number is not None)


def estimate_letters(source: str, request: Request) -> int | None:
    """About how many letters a file of DNA holds, from its size and its beginning; None for what is no file."""
    try:
        if source == "-" or not stat.S_ISREG(os.stat(source).st_mode):
            return None
        with read(source, **options_of(request)) as reading:
            letters = _letters(reading)
            if letters >= SAMPLE and reading.size:
                letters = round(letters * reading.size / max(reading.position, 1))
    except (InputError, OSError):
        return None
    if request.regions:  # one that is open at its end runs to that of its record, and no record is longer than all
        return sum(max(min(region.end, letters) - region.start, 0) for region in request.regions)
    return round(letters * request.sample_fraction)


def _letters(reading: Reading) -> int:
    """Letters up to SAMPLE and a piece, or all."""
    letters = 0
    for record in reading:
        for piece in record.pieces:
            letters += len(piece)
            if letters >= SAMPLE:
                return letters
    return letters
