"""What `classify` leaves: a table of records, and in a folder what happens along them."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from longseq import __version__
from longseq.formats.atomic import free_directory, output_directory
from longseq.formats.bed import BedWriter
from longseq.formats.jsonfile import to_json, write_json
from longseq.formats.parquet import ParquetWriter
from longseq.formats.tsv import TsvWriter
from longseq.log import Progress
from longseq.model.calibration import read_calibration
from longseq.model.held_out import read_figures
from longseq.records import Interval
from longseq.results.findings import UNKNOWN
from longseq.results.source import SourceRow
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify.answers import Answers, Region
from longseq.tasks.classify.evidence import Evidence
from longseq.tasks.classify.reading import Classified, Request, classified, record_model
from longseq.tasks.places import reads_dna
from longseq.tasks.sources import Source, require_some

log = logging.getLogger("longseq")

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


def classify(
    request: Request,
    reader: HiddenReader,
    *,
    out: str | None = None,
    table: TextIO | None = None,
    as_json: TextIO | None = None,
    command: str = "",
    force: bool = False,
    progress: Progress | None = None,
) -> list[SourceRow]:
    """Tell all records, as they come: as a table, as a JSON document, in the folder `out`, or all of them.

    The folder holds records.tsv and .parquet, a row a record; running.parquet, the head's reading of the record up to
    each of some places; windows.parquet, of each window read afresh; regions.bed, where the class changes; of
    documents evidence.tsv, the sentences that speak most for the class; run.json.

    Raises:
        InputError: the first one, when no record of any input could be read because of it.
        UsageError, OutputExistsError: a model without a head; a folder that is there already.
    """
    checkpoint = reader.checkpoint
    answers = Answers(record_model(checkpoint), read_calibration(checkpoint.path, checkpoint.sha256))
    if answers.calibration is None and answers.task != "regress":
        log.warning(
            "%s: is not calibrated: probabilities are the head's own, and nothing is called %s; "
            "--calibrate LABELS fits them to labelled records",
            checkpoint.name,
            UNKNOWN,
        )
    held_out = read_figures(checkpoint.path, checkpoint.sha256)
    if beaten := _beaten(held_out):
        log.warning("%s: %s", checkpoint.name, beaten)
    sources = [Source(file) for file in request.inputs]
    if out is not None:
        free_directory(out, force=force)
    with ExitStack() as stack:
        sinks: list[Any] = []
        if table is not None:
            sinks.append(_Table(table, answers))
        if as_json is not None:
            sinks.append(_Json(as_json))
        if out is not None:
            folder = stack.enter_context(output_directory(out, force=force, replaces=FILES))
            file = stack.enter_context(open(folder / "records.tsv", "w", encoding="utf-8", errors="backslashreplace"))
            bed = stack.enter_context(open(folder / "regions.bed", "w", encoding="utf-8", errors="backslashreplace"))
            if not reads_dna(checkpoint):
                told = open(folder / "evidence.tsv", "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
                sinks.append(_Evidence(stack.enter_context(told)))
            sinks += [_Table(file, answers), _Bed(bed), stack.enter_context(_Parquet(folder, answers))]
            write_json(folder / "run.json", _facts(request, reader, answers, command))
        for found in classified(request, reader, sources, progress):
            row, regions = _row(found, answers), answers.regions(found.afresh)
            row["changes"] = ",".join(str(found.windows[region.first, 0]) for region in regions[1:])
            for sink in sinks:
                sink.write(row, found, regions)
        require_some(sources, checkpoint)
        if as_json is not None:
            sinks[int(table is not None)].finish(_facts(request, reader, answers, command))
    return [source.row() for source in sources]


def _beaten(figures: dict[str, float]) -> str | None:
    """What to say where words alone told the classes better than the head did, on what training held out."""
    by_words, own = (figures.get(name, math.nan) for name in ("tfidf_macro_f1", "macro_f1"))
    if not by_words > own:
        return None
    return (
        f"TF-IDF and logistic regression told the held-out documents better (macro F1 {by_words:.3f}) than this head "
        f"({own:.3f})"
    )


def _columns(answers: Answers) -> dict[str, str]:
    """Columns of the table of records, and their types."""
    found = {"file": "string", "record": "string", "start": "int64", "end": "int64", "length": "int64"}
    if answers.task == "regress":
        return found | dict.fromkeys(answers.labels, "float64") | {"truncated": "bool"}
    if answers.task == "classify":
        found |= {"class": "string", "probability": "float64", "nearest": "string"}
    else:
        found |= {"labels": "string"}
    return found | {f"p_{name}": "float64" for name in answers.labels} | {"changes": "string", "truncated": "bool"}


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


def _facts(request: Request, reader: HiddenReader, answers: Answers, command: str) -> dict[str, Any]:
    checkpoint, calibration = reader.checkpoint, answers.calibration
    held_out = read_figures(checkpoint.path, checkpoint.sha256)
    return {
        "version": __version__,
        "command": command,
        "model": checkpoint.name,
        "model_sha256": checkpoint.sha256,
        "task": answers.task,
        "labels": list(answers.labels),
        "every": request.every,
        "window": request.window,
        "chunk": reader.chunk,
        "precision": reader.precision,
        "device": str(reader.device),
        "calibration": calibration,
        "held_out": held_out,
        "tfidf_does_better": _beaten(held_out) is not None,
    }


class _Table:
    def __init__(self, file: TextIO, answers: Answers):
        self._names = tuple(_columns(answers))
        self._writer = TsvWriter(file, self._names)

    def write(self, row: dict[str, Any], found: Classified, regions: list[Region]) -> None:
        self._writer.write({name: row[name] for name in self._names})


class _Json:
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
                ("records", _columns(answers)),
                ("running", place | values),
                ("windows", place | values | {"unknown": "bool"}),
            )
        )
        self._columns = tuple(_columns(answers))

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
