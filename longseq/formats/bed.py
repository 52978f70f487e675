"""BED: intervals, 0-based and half-open, with a score from 0 to 1000 (UCSC, "BED format")."""

from __future__ import annotations

from typing import TextIO

from longseq.formats.cells import cell
from longseq.records import Interval


class BedWriter:
    """Intervals into an open text file: six columns of BED, then columns of our own."""

    def __init__(self, file: TextIO):
        self._file = file

    def write(self, interval: Interval, name: str, score: int = 0, extra: tuple[object, ...] = ()) -> None:
        """One line. A probability or any other real figure belongs into `extra`, not into the score.

        Raises:
            ValueError: a score that is no whole number from 0 to 1000.
        """
        if (type(score) is not int and (isinstance(score, bool) or int(score) != score)) or not 0 <= score <= 1000:
            raise ValueError(f"a BED score is a whole number from 0 to 1000, found {score!r}")
        # An empty name would shift the columns of readers that split at white space.
        fields = (
            interval.record or ".",
            interval.start,
            interval.end,
            name or ".",
            int(score),
            interval.strand,
            *extra,
        )
        self._file.write("\t".join([str(field) if type(field) is int else cell(field) for field in fields]) + "\n")
