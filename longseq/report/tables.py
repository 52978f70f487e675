"""Tables of DNA records: `sequences.tsv`, `windows.parquet`, `regions.bed`, written as records come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from operator import attrgetter
from types import TracebackType
from typing import Any

import numpy as np

from longseq.formats.bed import BedWriter
from longseq.formats.parquet import ParquetWriter
from longseq.formats.tsv import TsvWriter
from longseq.report.input_folders import InputFile, InputFolders
from longseq.results.dna import CumulativeSkew, RecordSummary, Region, SequenceRow, WindowColumns
from longseq.results.document import DocumentSummary
from longseq.results.findings import Findings

FILES = ("sequences.tsv", "windows.parquet", "regions.bed")

ROW = {
    "file": "string",
    "index": "int64",
    "id": "string",
    "description": "string",
    "start": "int64",
    "length": "int64",
    "gc": "float64",
    "gc_of_length": "float64",
    "n": "int64",
    "iupac": "int64",
    "gaps": "int64",
    "longest_gap": "int64",
    "softmask": "float64",
    "digest": "string",
    "topology": "string",
    "truncated": "bool",
    "q20": "float64",
    "q30": "float64",
    "average_quality": "float64",
    "order0_bits": "float64",
    "order2_bits": "float64",
    "bits_forward": "float64",
    "bits_reverse": "float64",
    "bits_per_base": "float64",
}
"""Columns of `sequences.tsv` that are figures of the row, and their types; letters and skew follow."""
_FIGURES = attrgetter(*ROW)
SKEW = {"skew_amplitude": "float64", "skew_p": "float64", "skew_lowest": "int64", "skew_highest": "int64"}
FOUND = {
    "terminal_repeat": "int64",
    "telomere_start": "int64",
    "telomere_end": "int64",
    "markov2_bits": "float64",
    "markov6_bits": "float64",
    "novelty": "string",
    "out_of_range": "float64",
    "class": "string",
    "class_probability": "float64",
    "genes": "int64",
    "coding": "float64",
}
"""Columns of what was found: lengths at the ends, bits of Markov models, the class and its probability, genes."""
_NOTHING = Findings()
_PLACED = list(ROW.items())
SEQUENCES = dict([*_PLACED[:8], *((base, "int64") for base in "acgt"), *_PLACED[8:]]) | SKEW | FOUND
"""Columns of `sequences.tsv`."""

WINDOWS = {
    "file": "string",
    "index": "int64",
    "record": "string",
    "start": "int64",
    "end": "int64",
    **dict.fromkeys("acgtn", "int32"),
    **dict.fromkeys(list(WindowColumns.__dataclass_fields__)[7:], "float32"),
}
"""Columns of `windows.parquet`: file, position and id of the record, then `WindowColumns`."""

HELD = 1 << 11
"""Windows gathered before they are handed on: one by one they cost more than measuring them."""


def in_order(regions: Sequence[Region]) -> list[tuple[str, Region]]:
    """Regions of one record by start, each with its name: its kind and its number among those."""
    if len(regions) == 1:  # as every short record has
        return [(f"{regions[0].kind}1", regions[0])]
    counts: Counter[str] = Counter()
    named = []
    for region in sorted(regions, key=lambda region: region.interval.start):
        counts[region.kind] += 1
        named.append((f"{region.kind}{counts[region.kind]}", region))
    return named


def _found(found: Findings) -> list[Any]:
    """Cells of `FOUND`."""
    if found == _NOTHING:  # as most records have, where there are many
        return [None] * len(FOUND)
    telomeres = {one.end: one.length for one in found.telomeres}
    return [
        None if found.terminal_repeat is None else found.terminal_repeat.length,
        *(telomeres.get(end) for end in ("start", "end")),
        *(found.markov_bits.get(order) for order in ("order2", "order6")),
        found.novelty,
        found.out_of_range,
        *((None, None) if found.classes is None else (found.classes.label, found.classes.probability)),
        *((None, None) if found.genes is None else (found.genes.number, found.genes.coding)),
    ]


def _skew(skew: CumulativeSkew | None) -> tuple[Any, ...]:
    """Cells of `SKEW`."""
    return (None,) * len(SKEW) if skew is None else (skew.amplitude, skew.p, skew.lowest, skew.highest)


def sequence_cells(row: SequenceRow) -> list[Any]:
    """A record by `SEQUENCES`; None for what has no value."""
    figures, count = _FIGURES(row), row.letters.get
    letters = (count("A", 0), count("C", 0), count("G", 0), count("T", 0))
    return [*figures[:8], *letters, *figures[8:], *_skew(row.skew), *_found(row.findings)]


def window_batch(parts: Sequence[tuple[SequenceRow, WindowColumns]]) -> dict[str, Any]:
    """Windows of records, one at least, by `WINDOWS`."""
    sizes = [len(windows) for _, windows in parts]
    columns = [windows.columns() for _, windows in parts]
    batch: dict[str, Any] = {name: np.concatenate([part[name] for part in columns]) for name in columns[0]}
    rows = [row for row, _ in parts]
    batch["index"] = np.repeat([row.index for row in rows], sizes)
    files = [row.file.encode(errors="backslashreplace").decode() for row in rows]  # as in the text tables
    batch["file"] = np.repeat(np.array(files, object), sizes)
    batch["record"] = np.repeat(np.array([row.id for row in rows], object), sizes)
    return batch


class DnaTables:
    """The tables in a folder, made when the first record of DNA comes; use it as a context manager.

    `regions.bed` is BED6 with GC in permille as the score, then GC in percent; more columns than seven would be read as
    places and colours by genome browsers. There is one for each input, beside its tracks where there are several: its
    first column is the record's name as the sequences have it, which browsers and bedtools need, and which says
    nothing of the input.
    """

    def __init__(self, folders: InputFolders):
        self._folder = folders.root
        self._stack = ExitStack()
        self._regions = self._stack.enter_context(InputFile(folders, FILES[2]))
        self._held: list[tuple[SequenceRow, WindowColumns]] = []
        self._size = 0
        self._sequences: TsvWriter | None = None

    def __enter__(self) -> DnaTables:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._stack.__exit__(kind, error, at)

    def _open(self, summary: RecordSummary) -> None:
        """The tables there is something for: without windows there are no regions either."""
        rows = open(self._folder / FILES[0], "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - by __exit__
        self._sequences = TsvWriter(self._stack.enter_context(rows), tuple(SEQUENCES))
        if summary.windows is not None:
            self._windows = self._stack.enter_context(ParquetWriter(self._folder / FILES[1], WINDOWS))

    def dna(self, summary: RecordSummary) -> None:
        if self._sequences is None:
            self._open(summary)
        assert self._sequences is not None
        row = summary.row
        self._sequences.line(sequence_cells(row))
        if summary.windows is not None:
            bed = BedWriter(self._regions.of(summary.source))
            for name, region in in_order(summary.regions):
                score = 0 if region.gc is None else round(10 * region.gc)
                bed.write(region.interval, name, score, (region.gc,))
        if summary.windows is not None and len(summary.windows):
            self._held.append((row, summary.windows))
            self._size += len(summary.windows)
            if self._size >= HELD:
                self._flush()

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no such tables."""

    def _flush(self) -> None:
        if not self._held:
            return
        self._windows.write(window_batch(self._held))
        self._held, self._size = [], 0
