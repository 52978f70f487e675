"""What a run of `annotate` leaves: intervals, a row a record, tracks, and what made them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longseq.formats.atomic import output_directory
from longseq.formats.jsonfile import write_json
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.streaming.rows import RowSpool
from longseq.tasks.annotate.calls import BACKGROUND, Caller
from longseq.tasks.annotate.files import BLOCK, FILES, Placed, Sheets, write_tracks
from longseq.tasks.annotate.work import Row

SCHEMA = "longseq.annotation/1"
WHAT = "tracks"
"""They go by name."""


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What a result says of its request."""

    labels: tuple[str, ...]
    """C classes; the first is the background."""
    settings: dict[str, Any]
    """All that it depends on."""
    chunk: int
    shortest: int
    """Bases of the shortest interval."""
    threshold: float
    """Least mean probability of an interval."""
    regions: list[list[Any]]


def write(
    heading: Heading,
    rows: Iterable[Row],
    spool: RowSpool,
    out: str | Path,
    source: SourceRow,
    run: Run,
    *,
    force: bool,
    pause: Callable[[], None] = lambda: None,
) -> int:
    """Write the directory `out` of records whose probabilities lie in a spool, one behind the other; the number of
    intervals. `pause` is called after each record."""
    labels = heading.labels
    with output_directory(out, force=force, replaces=FILES) as folder:
        with Sheets(folder, labels) as sheets:
            placed, first = dict[str, list[Placed]](), 0
            for row in rows:
                placed.setdefault(row.name, []).append(Placed(first, row.length, row.start))
                _record(heading, row, first, sheets, spool)
                pause()
                first += row.length
        tracks = write_tracks(folder / "tracks", labels, placed, spool)
        facts = {
            "schema": SCHEMA,
            "run": run.to_json(),
            "settings": heading.settings,
            "file": source.to_json(),
            "classes": [{"name": label, "track": tracks.get(label)} for label in labels],
            "background": labels[BACKGROUND],
            "chunk": heading.chunk,
            "min_length": heading.shortest,
            "threshold": heading.threshold,
            "regions": heading.regions,
            "intervals": sheets.intervals,
        }
        write_json(folder / "annotation.json", facts)
    return sheets.intervals


def _record(heading: Heading, row: Row, first: int, sheets: Sheets, spool: RowSpool) -> None:
    caller = Caller(shortest=heading.shortest, threshold=heading.threshold, circular=row.circular)
    bases, sums = np.zeros(spool.width, np.int64), np.zeros(spool.width)
    unknown, before = 0, sheets.intervals
    if row.length:
        alone = len(heading.regions) < 2
        sheets.begin(row.name, row.start, row.start + row.length, circular=row.circular, alone=alone)
    for start in range(first, first + row.length, BLOCK):
        probabilities = spool.read(start, min(start + BLOCK, first + row.length))
        known = ~np.isnan(probabilities[:, 0])
        for call in caller.add(probabilities, known):
            sheets.interval(row.name, call.moved(row.start))
        bases += np.bincount(probabilities[known].argmax(1), minlength=spool.width)
        sums += probabilities[known].sum(0, dtype=np.float64)
        unknown += int(np.count_nonzero(~known))
    for call in caller.finish():
        sheets.interval(row.name, call.moved(row.start))
    facts = {
        "file": row.file,
        "record": row.name,
        "start": row.start,
        "end": row.start + row.length,
        "length": row.length,
        "unknown": unknown,
        "truncated": row.truncated,
        "intervals": sheets.intervals - before,
    }
    sheets.row(facts, bases, sums)
