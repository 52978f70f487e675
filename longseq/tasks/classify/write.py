"""What `classify` leaves: a table of records, and in a folder what happens along them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

from longseq.formats.atomic import output_directory
from longseq.formats.bed import BedWriter
from longseq.formats.jsonfile import to_json, write_json
from longseq.formats.parquet import ParquetWriter
from longseq.formats.tsv import TsvWriter
from longseq.records import Interval
from longseq.tasks.classify.answers import Answers, Region
from longseq.tasks.classify.found import Classified, Evidence

SCHEMA = "longseq.classify/1"
FILES = (
    "records.tsv",
    "records.parquet",
    "running.parquet",
    "evidence.tsv",
    "windows.parquet",
    "regions.bed",
    "run.json",
)
"""What an output directory may hold of an earlier run."""


class Sink(Protocol):
    def write(self, row: dict[str, Any], found: Classified, regions: list[Region]) -> None:
        """A record: its row of the table, what was found of it, and its regions."""


class Teller:
    """Tells sinks of records, one by one."""

    def __init__(self, answers: Answers, sinks: list[Sink]):
        self._answers, self._sinks = answers, sinks

    def take(self, found: Classified) -> None:
        row, regions = row_of(found, self._answers)
        for sink in self._sinks:
            sink.write(row, found, regions)


@contextmanager
def folder_of(
    out: str, answers: Answers, facts: dict[str, Any], *, documents: bool, force: bool
) -> Iterator[list[Sink]]:
    """Sinks of the files of the folder `out`, which appears when the block ends well; `facts` are for run.json."""
    with ExitStack() as stack:
        folder = stack.enter_context(output_directory(out, force=force, replaces=FILES))

        def opened(name: str) -> TextIO:
            return stack.enter_context(open(folder / name, "w", encoding="utf-8", errors="backslashreplace"))

        sinks: list[Sink] = [Table(opened("records.tsv"), answers), _Bed(opened("regions.bed"))]
        if documents:
            sinks.append(_Evidence(opened("evidence.tsv")))
        sinks.append(stack.enter_context(_Parquet(folder, answers)))
        write_json(folder / "run.json", facts)
        yield sinks


def columns_of(answers: Answers) -> dict[str, str]:
    """Columns of the table of records, and their types."""
    found = {"file": "string", "record": "string", "start": "int64", "end": "int64", "length": "int64"}
    if answers.task == "regress":
        return found | dict.fromkeys(answers.labels, "float64") | {"truncated": "bool"}
    if answers.task == "classify":
        found |= {"class": "string", "probability": "float64", "nearest": "string"}
    else:
        found |= {"labels": "string"}
    return found | {f"p_{name}": "float64" for name in answers.labels} | {"changes": "string", "truncated": "bool"}


def row_of(found: Classified, answers: Answers) -> tuple[dict[str, Any], list[Region]]:
    """A record's row of the table by `columns_of`, and its regions."""
    regions = answers.regions(found.afresh)
    changes = ",".join(str(found.windows[region.first, 0]) for region in regions[1:])
    return _row(found, answers) | {"changes": changes}, regions


def _row(found: Classified, answers: Answers) -> dict[str, Any]:
    row: dict[str, Any] = {"file": found.file, "record": found.record, "start": found.start}
    row |= {"end": found.start + found.length, "length": found.length}
    values = [None] * len(answers.labels) if found.scores is None else answers.values(found.scores).tolist()
    verdict = None if found.scores is None else answers.verdict(found.scores)
    if answers.task == "classify":
        nearest = None if found.scores is None else answers.nearest(found.scores)
        probability = None if found.scores is None or answers.unknown(found.scores) else max(values)
        row |= {"class": verdict, "probability": probability, "nearest": nearest}
    elif answers.task == "multilabel":
        row["labels"] = verdict
    prefix = "" if answers.task == "regress" else "p_"
    return (
        row
        | {prefix + name: v for name, v in zip(answers.labels, values, strict=True)}
        | {"truncated": found.truncated}
    )


class Table:
    """A row a record."""

    def __init__(self, file: TextIO, answers: Answers):
        self._names = tuple(columns_of(answers))
        self._writer = TsvWriter(file, self._names)

    def write(self, row: dict[str, Any], found: Classified, regions: list[Region]) -> None:
        self._writer.write({name: row[name] for name in self._names})


class Json:
    """One document, a record a line; what made it stands at the end."""

    def __init__(self, file: TextIO):
        self._file, self._any = file, False
        file.write(f'{{\n"schema": "{SCHEMA}",\n"records": [')

    def write(self, row: dict[str, Any], found: Classified, regions: list[Region]) -> None:
        places = [
            {"start": found.windows[r.first, 0], "end": found.windows[r.last - 1, 1], "class": r.label,
             "probability": r.probability}
            for r in regions
        ]  # fmt: skip
        told = [sentence._asdict() for sentence in found.evidence]
        line = to_json({**row, "regions": places, "evidence": told}, indent=None)
        self._file.write((",\n" if self._any else "\n") + line)
        self._any = True

    def finish(self, facts: dict[str, Any]) -> None:
        self._file.write(f'\n],\n"run": {to_json(facts, indent=None)}\n}}\n')


class _Evidence:
    """Sentences that speak for the class of their document."""

    def __init__(self, file: TextIO):
        self._names = ("file", "record", "class", *Evidence._fields)
        self._writer = TsvWriter(file, self._names)

    def write(self, row: dict[str, Any], found: Classified, regions: list[Region]) -> None:
        for told in found.evidence:
            self._writer.write({name: row[name] for name in self._names[:3]} | told._asdict())


class _Bed:
    """Regions, the mean probability of their class in the seventh column, NA of `unknown`, and a thousand times as much
    as the score."""

    def __init__(self, file: TextIO):
        self._writer = BedWriter(file)

    def write(self, row: dict[str, Any], found: Classified, regions: list[Region]) -> None:
        for region in regions:
            start, end = int(found.windows[region.first, 0]), int(found.windows[region.last - 1, 1])
            score = 0 if region.probability is None else round(1000 * region.probability)
            interval = Interval(record=found.record, start=start, end=end)
            self._writer.write(interval, region.label, score, extra=(region.probability,))


class _Parquet:
    """Tables of records, of running readings and of windows."""

    def __init__(self, folder: Path, answers: Answers):
        self._answers = answers
        prefix = "" if answers.task == "regress" else "p_"
        values = {prefix + name: "float64" for name in answers.labels}
        place = {"file": "string", "record": "string", "start": "int64", "end": "int64"}
        self._names = tuple(values)
        self._stack = ExitStack()
        metadata = {"longseq.classify": json.dumps({"task": answers.task, "labels": list(answers.labels)})}
        self._records, self._running, self._windows = (
            self._stack.enter_context(ParquetWriter(folder / f"{name}.parquet", columns, metadata=metadata))
            for name, columns in (
                ("records", columns_of(answers)),
                ("running", place | values),
                ("windows", place | values | {"unknown": "bool"}),
            )
        )
        self._columns = tuple(columns_of(answers))

    def __enter__(self) -> _Parquet:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def write(self, row: dict[str, Any], found: Classified, regions: list[Region]) -> None:
        self._records.write({name: [row[name]] for name in self._columns})
        first = [found.start] * len(found.running)
        self._running.write(dict(self._values(found, found.running), start=first, end=found.running_ends))
        silent = np.isnan(found.afresh).any(-1)
        unknown = [None if s else bool(u) for s, u in zip(silent, self._answers.unknown(found.afresh), strict=True)]
        bounds = {"start": found.windows[:, 0], "end": found.windows[:, 1]}
        self._windows.write(dict(self._values(found, found.afresh)) | bounds | {"unknown": unknown})

    def _values(self, found: Classified, scores: Any) -> Iterator[tuple[str, Any]]:
        yield "file", [found.file] * len(scores)
        yield "record", [found.record] * len(scores)
        values = self._answers.values(scores)
        for c, name in enumerate(self._names):
            yield name, values[:, c]
