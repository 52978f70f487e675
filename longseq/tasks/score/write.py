"""What `score` leaves of records: a table, a JSON document, and in a folder a track as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from longseq.formats.atomic import output_directory
from longseq.formats.jsonfile import to_json, write_json
from longseq.formats.tsv import TsvWriter
from longseq.metrics import nulls
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.tasks.score.request import TrackFormat
from longseq.tasks.score.track import BIGWIGS, NPY, write_bigwigs, write_npy
from longseq.tasks.score.work import Work, said

SCHEMA = "longseq.score/1"
PLACE = ("file", "record", "strand", "start", "end", "length")
COLUMNS = (*PLACE, "tokens", "bits", "bits_per_token", *nulls.COLUMNS, "truncated")
FILES = ("scores.tsv", NPY, *BIGWIGS.values(), "run.json")
"""What an output directory may hold of an earlier run."""


@dataclass(frozen=True)
class Result:
    """What a run found."""

    sources: list[SourceRow]
    work: Work

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row a strand, by `COLUMNS`, in input order."""
        for row in self.work.rows():
            row["end"] = row["start"] + row["length"]
            yield {name: row[name] for name in COLUMNS}

    def write_table(self, file: TextIO) -> None:
        writer = TsvWriter(file, COLUMNS)
        for row in self.rows():
            writer.write(row)

    def write_json(self, file: TextIO, run: Run) -> None:
        """One document: `schema`, `run`, `files`, `records`; a record a line."""
        sources = to_json([source.to_json() for source in self.sources], indent=None)
        file.write(f'{{\n"schema": "{SCHEMA}",\n"run": {to_json(run.to_json(), indent=None)},\n"files": {sources},\n')
        file.write('"records": [')
        for i, row in enumerate(self.rows()):
            file.write((",\n" if i else "\n") + to_json(row, indent=None))
        file.write("\n]\n}\n")


def write(result: Result, out: str, track: TrackFormat | None, *, force: bool) -> None:
    """The directory `out`: scores.tsv, run.json and, where one was kept, a track in this format."""
    with said(Path(out)), output_directory(out, force=force, replaces=FILES) as folder:
        with open(folder / "scores.tsv", "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            result.write_table(file)
        if track == "npy":
            write_npy(result.work, folder / NPY)
        elif track == "bw":
            write_bigwigs(result.work, folder)
        write_json(folder / "run.json", result.work.settings())
