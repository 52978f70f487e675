"""The bits of every token as a file: npy, row after row, or a bigWig a strand, by record and place."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from longseq.formats.bigwig import LONGEST, Stretch, write_bigwig
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
            for _, bits in _blocks(spool, row):
                out.write(bits.tobytes())


def write_bigwigs(work: Work, folder: Path) -> None:
    """A file for each strand that has a value: float32 at the base's place in its record, gaps where a base is not A,
    C, G or T. A record without a name, too long for the format, or of a name that stood before (unless it is another
    stretch of the same record) is left out, and said.

    Raises:
        StateError: the spool does not hold what the rows say.
    """
    work.require_track()
    placed: dict[str, dict[str, list[dict[str, Any]]]] = {sign: {} for sign in BIGWIGS}
    left_out = 0
    for row in work.rows():
        records, start, end = placed[row["strand"]], row["start"], row["start"] + row["length"]
        before = records.get(row["record"], [])
        apart = row["stretch"] and all(end <= b["start"] or b["start"] + b["length"] <= start for b in before)
        seen = bool(before) and not apart
        if not row["record"] or seen or end > LONGEST:
            left_out += 1
            continue
        found = {name: row[name] for name in ("strand", "start", "length", "offset")}
        records.setdefault(row["record"], []).append(found)
    if left_out:
        log.warning("%d rows share a name, have none or are too long: they are not in the track", left_out)
    for sign, records in placed.items():
        ends = {name: [row["start"] + row["length"] for row in rows if row["length"]] for name, rows in records.items()}
        lengths = {name: max(found) for name, found in ends.items() if found}
        with open(work.spools["track"], "rb") as spool:
            write_bigwig(folder / BIGWIGS[sign], lengths, _stretches(spool, records))


def _stretches(spool: BinaryIO, records: dict[str, list[dict[str, Any]]]) -> Iterator[Stretch]:
    for name in sorted(records):
        for row in sorted(records[name], key=lambda row: row["start"]):
            for start, bits in _blocks(spool, row):
                yield name, row["start"] + start, bits


def _blocks(spool: BinaryIO, row: dict[str, Any]) -> Iterator[tuple[int, np.ndarray]]:
    """A row's values in the order of the record's bases, each block with the place of its first. The other strand lies
    in the spool as it was read, from the record's end."""
    for start in range(0, row["length"], BLOCK):
        end = min(start + BLOCK, row["length"])
        first = start if row["strand"] == "+" else row["length"] - end
        spool.seek(4 * (row["offset"] + first))
        bits = np.frombuffer(spool.read(4 * (end - start)), "<f4")
        yield start, bits if row["strand"] == "+" else bits[::-1]
