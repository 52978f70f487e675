"""A run of `classify`: from its inputs to what it leaves."""

from __future__ import annotations

import logging
import math
from contextlib import ExitStack
from typing import Any, TextIO

from longseq import __version__
from longseq.formats.atomic import free_directory
from longseq.log import Progress
from longseq.model.calibration import read_calibration
from longseq.model.held_out import read_figures
from longseq.results.findings import UNKNOWN
from longseq.results.source import SourceRow
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify.answers import Answers
from longseq.tasks.classify.reading import Request, classified, record_model
from longseq.tasks.classify.write import Json, Sink, Table, Teller, folder_of
from longseq.tasks.places import reads_dna
from longseq.tasks.sources import Source, require_some

log = logging.getLogger("longseq")


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
    answers = answers_of(reader)
    facts = facts_of(request, reader, answers, command)
    for doubt in doubts_of(reader, answers):
        log.warning("%s", doubt)
    sources = [Source(file) for file in request.inputs]
    if out is not None:
        free_directory(out, force=force)
    with ExitStack() as stack:
        sinks: list[Sink] = [] if table is None else [Table(table, answers)]
        document = None if as_json is None else Json(as_json)
        if document is not None:
            sinks.append(document)
        if out is not None:
            documents = not reads_dna(reader.checkpoint)
            sinks += stack.enter_context(folder_of(out, answers, facts, documents=documents, force=force))
        teller = Teller(answers, sinks)
        for found in classified(request, reader, sources, progress):
            teller.take(found)
        require_some(sources, reader.checkpoint)
        if document is not None:
            document.finish(facts)
    return [source.row() for source in sources]


def answers_of(reader: HiddenReader) -> Answers:
    """What the scores of a reader's model mean.

    Raises:
        UsageError: a model without a head; CheckpointError: a calibration that cannot be read.
    """
    checkpoint = reader.checkpoint
    return Answers(record_model(checkpoint), read_calibration(checkpoint.path, checkpoint.sha256))


def doubts_of(reader: HiddenReader, answers: Answers) -> list[str]:
    """What to say where there is no calibration, and where words alone did better."""
    checkpoint, doubts = reader.checkpoint, []
    if answers.calibration is None and answers.task != "regress":
        doubts.append(
            f"is not calibrated: probabilities are the head's own, and nothing is called {UNKNOWN}; "
            "--calibrate LABELS fits them to labelled records"
        )
    if beaten := _beaten(read_figures(checkpoint.path, checkpoint.sha256)):
        doubts.append(beaten)
    return [f"{checkpoint.name}: {doubt}" for doubt in doubts]


def _beaten(figures: dict[str, float]) -> str | None:
    """What to say where words alone told the classes better than the head did, on what training held out."""
    by_words, own = (figures.get(name, math.nan) for name in ("tfidf_macro_f1", "macro_f1"))
    if not by_words > own:
        return None
    return (
        f"TF-IDF and logistic regression told the held-out documents better (macro F1 {by_words:.3f}) than this head "
        f"({own:.3f})"
    )


def facts_of(request: Request, reader: HiddenReader, answers: Answers, command: str) -> dict[str, Any]:
    """What made a result."""
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
