"""Phred qualities of a FASTQ record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from longseq.errors import InputError

ERROR = 10.0 ** (-np.arange(94) / 10)
"""Error probability of each Phred score that Phred+33 can spell."""


class Quality(NamedTuple):
    q20_bases: int
    q30_bases: int
    expected_errors: float


def summarize_quality(quality: bytes, where: str) -> Quality:
    """Bases of at least Q20 and Q30, and the sum of error probabilities, from Phred+33 characters.

    Raises:
        InputError: a character outside `!` to `~`.
    """
    histogram = np.bincount(np.frombuffer(quality, np.uint8), minlength=256)
    scores = histogram[33:127]
    if int(scores.sum()) != len(quality):
        raise InputError(where=where, expected="Phred+33 qualities, '!' to '~'", found="another character")
    return Quality(int(scores[20:].sum()), int(scores[30:].sum()), float(scores @ ERROR))
