"""The bits of every token as a file: npy, row after row, or a bigWig a strand, by record and place."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from longseq.errors import place
from longseq.formats.bigwig import LONGEST, LONGEST_NAME, OVERLAP, Covered, Stretch, write_bigwig
from longseq.log import count
from longseq.tasks.score.work import Work

log = logging.getLogger("longseq")

BLOCK = 1 << 16
"""Values read at once."""
NPY = "bits.npy"
BIGWIGS = {"+": "bits_forward.bw", "-": "bits_reverse.bw"}
"""Of each strand; values stand at the bases' places in the record on either."""


def write_npy(work: Work, path: Path) -> None:
    """(N,) float32: the rows of the table, one behind the other.

    Raises:
        StateError: the spool does not hold what the rows say.
    """
    total = work.require_track()
    with open(path, "wb") as out, open(work.spools["track"], "rb") as spool:
        np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": (total,)})
        for row in work.rows():
            for _, bits in _blocks(spool, row, 0, row["length"]):
                out.write(bits.tobytes())


class _Part(NamedTuple):
    """Bases `[start, end)` of a record that a row of the table has the values of."""

    start: int
    end: int
    row: dict[str, Any]


def write_bigwigs(work: Work, folder: Path) -> None:
    """A file for each strand that has a value: float32 at the base's place in its record, gaps where a base is not A,
    C, G or T. A record without a name, too long for the format, or of a name that another one had before is left out;
    where stretches of one record overlap, a base has the value of the one that came first. Both are said.

    Raises:
        StateError: the spool does not hold what the rows say.
    """
    work.require_track()
    placed: dict[str, dict[str, list[_Part]]] = {sign: {} for sign in BIGWIGS}
    taken: dict[tuple[str, str], Covered] = {}  # of records that came in stretches
    left_out, overlap = 0, dict[str, None]()
    for row in work.rows():
        records, start, end = placed[row["strand"]], row["start"], row["start"] + row["length"]
        before = records.get(row["record"], [])
        other = bool(before) and not (row["stretch"] and row["file"] == before[0].row["file"])
        if not 0 < len(row["record"]) <= LONGEST_NAME or other or end > LONGEST:
            left_out += 1
            continue
        free = [(start, end)]
        if row["stretch"]:
            free = taken.setdefault((row["strand"], row["record"]), Covered()).take(start, end)
        if row["length"] and free != [(start, end)]:
            overlap[row["file"]] = None
        kept = {name: row[name] for name in ("file", "strand", "start", "length", "offset")}
        records.setdefault(row["record"], []).extend(_Part(*span, kept) for span in free or [(start, start)])
    if left_out:
        log.warning(
            "not in the track, of a name that stood before, without one, or too long: %s", count(left_out, "row")
        )
    for file in overlap:
        log.warning(OVERLAP, place(file))
    for sign, records in placed.items():
        lengths = {name: length for name, parts in records.items() if (length := max(part.end for part in parts))}
        with open(work.spools["track"], "rb") as spool:
            write_bigwig(folder / BIGWIGS[sign], lengths, _stretches(spool, records))


def _stretches(spool: BinaryIO, records: dict[str, list[_Part]]) -> Iterator[Stretch]:
    for name in sorted(records):
        for part in sorted(records[name], key=lambda part: part.start):
            begin = part.row["start"]
            for start, bits in _blocks(spool, part.row, part.start - begin, part.end - begin):
                yield name, begin + start, bits


def _blocks(spool: BinaryIO, row: dict[str, Any], first: int, last: int) -> Iterator[tuple[int, np.ndarray]]:
    """A row's values `[first, last)` in the order of the record's bases, each block with the place of its first. The
    other strand lies in the spool as it was read, from the record's end."""
    for start in range(first, last, BLOCK):
        end = min(start + BLOCK, last)
        at = start if row["strand"] == "+" else row["length"] - end
        spool.seek(4 * (row["offset"] + at))
        bits = np.frombuffer(spool.read(4 * (end - start)), "<f4")
        yield start, bits if row["strand"] == "+" else bits[::-1]
