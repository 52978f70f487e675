"""What `annotate` writes: intervals, a row a record, and a track a class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from longseq.formats.bed import BedWriter
from longseq.formats.bigwig import Stretch, write_bigwig
from longseq.formats.gff3 import Gff3Writer
from longseq.formats.tsv import TsvWriter
from longseq.records import Interval
from longseq.streaming.rows import RowSpool
from longseq.tasks.annotate.calls import Call, stranded

BLOCK = 1 << 16
"""Bases of a track read at once."""
FILES = ("intervals.bed", "intervals.gff3", "records.tsv", "annotation.json", "tracks")
"""What an output directory may hold of an earlier run."""
LIKE_CDS = "coding_region_of_exon"
"""Type in GFF3 of a class named CDS (SO:0000195): a CDS wants a phase, which bases' classes do not tell."""


class Placed(NamedTuple):
    """Where a record's probabilities lie in the spool."""

    first: int
    length: int
    start: int = 0
    """In the record, where only a stretch of it was read."""


class Sheets:
    """intervals.bed, intervals.gff3 and records.tsv, written as records come."""

    def __init__(self, folder: Path, labels: Sequence[str]):
        self._stack = ExitStack()

        def opened(name: str) -> TextIO:
            file = open(folder / name, "w", encoding="utf-8", errors="backslashreplace", newline="\n")  # noqa: SIM115
            return self._stack.enter_context(file)

        self._classes, self._labels = stranded(labels), labels
        self._bed, self._gff = BedWriter(opened("intervals.bed")), Gff3Writer(opened("intervals.gff3"))
        facts = ("file", "record", "start", "end", "length", "unknown", "truncated", "intervals")
        of_classes = [f"{what} {label}" for what in ("bases", "mean") for label in labels]
        self._table = TsvWriter(opened("records.tsv"), [*facts, *of_classes])
        self.intervals = 0
        """Written so far."""
        self._end = 0
        """Of the record that was announced last."""

    def __enter__(self) -> Sheets:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def begin(self, record: str, start: int, end: int, *, circular: bool, alone: bool = True) -> None:
        """Announce a record, of which `[start, end)` was read, in front of its intervals; GFF3 announces a record once
        or not at all, so that of one of several stretches nothing is said."""
        if alone:
            self._gff.record(record, end, start=start, circular=circular)
        self._end = end

    def interval(self, record: str, call: Call) -> None:
        """BED: the mean probability times 1000 as score, and as it is in column 7; in two lines where it crosses the
        origin. GFF3: the mean probability as it is, and an end behind the record's there."""
        name, strand = self._classes[call.label]
        interval = Interval(record=record, start=call.start, end=call.end, strand=strand)
        self.intervals += 1
        for start, end in ((call.start, min(call.end, self._end)), (0, call.end - self._end)):
            if start < end:
                part = replace(interval, start=start, end=end)
                self._bed.write(part, name, round(1000 * call.probability), (round(call.probability, 6),))
        kind = LIKE_CDS if name == "CDS" else name
        attributes = {"ID": f"{record}_{self.intervals}", "Name": name}
        self._gff.write(interval, kind, score=call.probability, attributes=attributes)

    def row(self, facts: dict[str, object], bases: np.ndarray, sums: np.ndarray) -> None:
        """A row: `bases` (C,) of which each class is the likeliest, `sums` (C,) of its probabilities."""
        known = int(bases.sum())
        row = dict(facts)
        for label, size, total in zip(self._labels, bases.tolist(), sums.tolist(), strict=True):
            row |= {f"bases {label}": size, f"mean {label}": total / known if known else None}
        self._table.write(row)


def write_tracks(
    folder: Path, labels: Sequence[str], placed: dict[str, list[Placed]], spool: RowSpool
) -> dict[str, str]:
    """A bigWig for each class in `folder`, probabilities as they are in the spool; path of each class's file beside it.

    There are none where no base is known: a bigWig has at least one value.
    """
    folder.mkdir()
    ends = {name: [place.start + place.length for place in places if place.length] for name, places in placed.items()}
    lengths = {name: max(found) for name, found in ends.items() if found}
    files: dict[str, str] = {}
    for i, label in enumerate(labels):
        stem = re.sub(r"[^\w.+-]", "_", label)
        if f"{stem}.bw" in {Path(file).name for file in files.values()}:
            stem = f"{stem}_{i}"
        if write_bigwig(folder / f"{stem}.bw", lengths, _column(placed, spool, i)):
            files[label] = f"{folder.name}/{stem}.bw"
    return files


def _column(placed: dict[str, list[Placed]], spool: RowSpool, i: int) -> Iterator[Stretch]:
    in_order = [(name, place) for name in sorted(placed) for place in sorted(placed[name], key=lambda p: p.start)]
    for name, (first, length, offset) in in_order:
        for start in range(0, length, BLOCK):
            end = min(start + BLOCK, length)
            yield name, offset + start, spool.read(first + start, first + end)[:, i]
