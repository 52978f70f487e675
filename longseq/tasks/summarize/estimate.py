"""How many letters a file holds, without reading all of it."""

from __future__ import annotations

import os
import stat

from longseq.errors import InputError
from longseq.formats import Reading, read
from longseq.tasks.summarize.request import Request, options_of

SAMPLE = 1 << 21
"""Letters looked at to estimate how many a file holds."""


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
