"""Records through a model with a head: the running reading of each, and its windows read afresh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longseq.config import require
from longseq.errors import InputError, UsageError
from longseq.log import NullProgress, Progress, Spot
from longseq.model import Checkpoint, RecordModel
from longseq.records import Record
from longseq.streaming.hidden import HiddenReader, Job
from longseq.tasks.classify.evidence import Witness, can_tell
from longseq.tasks.classify.found import Classified, Evidence
from longseq.tasks.classify.kept import Ids
from longseq.tasks.places import Every, Places, id_pieces, known_ids, reads_dna, walk
from longseq.tasks.sources import Asked, Source
from longseq.tasks.summarize.estimate import estimate_all

WINDOW = 2048
"""Tokens of a window that is read afresh."""
EVIDENCE = 5
"""Sentences told of a document."""


@dataclass(frozen=True, kw_only=True)
class Request(Asked):
    """Inputs, and what is wanted of each record."""

    inputs: tuple[str, ...]
    """Files; `-` is standard input."""
    every: int = WINDOW
    """Tokens between two running readings; 0: only the whole record is told."""
    window: int = WINDOW
    """Tokens of a window that is read afresh, from the record's start; 0: none."""
    evidence: int = EVIDENCE
    """Sentences of a document that speak most for its class; 0: none."""
    column: str | None = None
    """Column of tables that holds the texts."""

    def __post_init__(self) -> None:
        require(self.every >= 0, "every", self.every, ">= 0 tokens")
        require(self.window >= 0, "window", self.window, ">= 0 tokens")
        require(self.evidence >= 0, "evidence", self.evidence, ">= 0 sentences")


class _Running:
    """The head's reading of what has passed, kept every so many tokens."""

    def __init__(self, model: RecordModel, known: np.ndarray, every: int):
        """`known` (V,) bool: ids that say something."""
        self._model, self._known, self._every = model, known, every
        self._pool = None
        self.tokens = 0
        self.told = False
        """Something said something so far."""
        self.scores: np.ndarray | None = None
        self.kept: list[np.ndarray] = []

    def take(self, ids: np.ndarray, hidden: Tensor) -> None:
        """The next tokens (t,) and their vectors (t, D)."""
        start = 0
        while start < len(ids):
            stop = min(len(ids), start + self._every - self.tokens % self._every) if self._every else len(ids)
            with torch.inference_mode():
                scores, self._pool = self._model.head(hidden[None, start:stop], self._pool)
            self.told = self.told or bool(self._known[ids[start:stop]].any())
            self.scores = scores[0].float().cpu().numpy()
            if not self.told:
                self.scores = np.full_like(self.scores, np.nan)
            self.tokens, start = self.tokens + stop - start, stop
            if self._every and self.tokens % self._every == 0:
                self.kept.append(self.scores)

    def all(self) -> list[np.ndarray]:
        """Those kept, and that of the end."""
        ended = self.scores is not None and (not self._every or self.tokens % self._every)
        return self.kept + ([self.scores] if ended else [])  # type: ignore[list-item]


class _Entry:
    """A record on its way."""

    def __init__(self, source: Source, record: Record, model: RecordModel, known: np.ndarray, request: Request):
        self.source, self.record = source, record
        self.running = _Running(model, known, request.every)
        asked = request.evidence and record.kind == "document" and can_tell(model)
        self.witness = Witness(model, record) if asked else None
        self.every, self.window = Every(request.every or None), Every(request.window or None)
        self.afresh: list[_Running] = []
        self.error: InputError | None = None
        self.number = 0
        """Windows that are read afresh."""

    @property
    def places(self) -> list[Places]:
        return [self.every, self.window, *([self.witness.places] if self.witness else [])]

    def take(self, ids: np.ndarray, hidden: Tensor) -> None:
        """The next tokens of the whole record (t,) and their vectors (t, D)."""
        self.running.take(ids, hidden)
        if self.witness is not None:
            self.witness.take(hidden)

    def close(self) -> None:
        if self.witness is not None:
            self.witness.close()


class _Pass(Job):
    def __init__(self, entry: _Entry, pieces: Any, running: _Running):
        super().__init__(pieces, entry.take if running is entry.running else running.take)
        self.entry, self.running = entry, running


def record_model(checkpoint: Checkpoint) -> RecordModel:
    """The model, if it has a head over records.

    Raises:
        UsageError: it has none, with the command that makes one.
    """
    if isinstance(checkpoint.model, RecordModel):
        return checkpoint.model
    base = checkpoint.name
    raise UsageError(
        "has no head that classifies records",
        where=base,
        remedy=f"train one of your own: longseq train INPUT... --labels labels.tsv --from {base} --out RUN, then "
        "longseq classify INPUT... --model RUN/model",
    )


def classified(
    request: Request, reader: HiddenReader, sources: Sequence[Source], progress: Progress | None = None
) -> Iterator[Classified]:
    """Scores of all records of `sources` (made of `request.inputs`, and told what went wrong), in order.

    Records are read forwards, as an evaluation in training reads them. Scores depend on the record alone: not on its
    neighbours, nor, but for rounding, on the reader's chunk. A record that cannot be read to its end has none.

    Raises:
        UsageError: a model without such a head.
    """
    records = walk(sources, reader.checkpoint, request, column=request.column)
    progress, total = progress or NullProgress(), None
    if reads_dna(reader.checkpoint) and (letters := estimate_all(request.inputs, request)) is not None:
        total = letters * (2 if request.window else 1)
    return _classified(request, reader, record_model(reader.checkpoint), records, progress, total)


def classified_records(
    request: Request,
    reader: HiddenReader,
    records: Iterable[tuple[Source, Record]],
    progress: Progress | None = None,
) -> Iterator[Classified]:
    """The same of records that were opened elsewhere, each with the source that is told of it."""
    model = record_model(reader.checkpoint)
    return _classified(request, reader, model, records, progress or NullProgress(), None)


def _classified(
    request: Request,
    reader: HiddenReader,
    model: RecordModel,
    records: Iterable[tuple[Source, Record]],
    progress: Progress,
    total: int | None,
) -> Iterator[Classified]:
    for job in reader.passed(_jobs(request, reader.checkpoint, model, records, progress, total)):
        assert isinstance(job, _Pass)
        entry = job.entry
        if job.running is entry.running:
            entry.error = job.error
            entry.number = _windows(job.running.tokens, request.window) if job.error is None else 0
        else:
            entry.afresh.append(job.running)
        if len(entry.afresh) < entry.number:
            continue
        try:
            if entry.error is not None:
                entry.source.fail(entry.error)
                continue
            entry.source.records += 1
            entry.source.length += entry.record.length or 0
            entry.source.truncated |= entry.record.truncated
            yield _result(entry, request, len(model.labels))
        finally:
            entry.close()


def _windows(tokens: int, window: int) -> int:
    """Windows that are read for themselves; a record of one window is that window."""
    return -(-tokens // window) if window and tokens > window else 0


def _result(entry: _Entry, request: Request, classes: int) -> Classified:
    none = np.zeros((0, classes), np.float32)
    offset = int(entry.record.notes.get("offset", 0))
    running = entry.running.all()
    scores = entry.running.scores if entry.running.told else None
    told: tuple[Evidence, ...] = ()
    if scores is not None and entry.witness is not None:
        told = entry.witness.finish(int(scores.argmax()), request.evidence, offset)
    read = entry.afresh or ([entry.running] if request.window and running else [])
    return Classified(
        file=entry.source.file,
        record=entry.record.id,
        start=offset,
        length=entry.record.length or 0,
        scores=scores,
        running_ends=entry.every.spans()[: len(running), 1] + offset,
        running=np.stack(running) if running else none,
        windows=entry.window.spans()[: len(read)] + offset,
        afresh=np.stack([part.scores for part in read]) if read else none,  # type: ignore[misc]
        evidence=told,
        truncated=entry.record.truncated,
    )


def _jobs(
    request: Request,
    checkpoint: Checkpoint,
    model: RecordModel,
    records: Iterable[tuple[Source, Record]],
    progress: Progress,
    total: int | None,
) -> Iterator[_Pass]:
    progress.start("classify", total, "token")
    known = known_ids(checkpoint)
    try:
        for source, record in records:
            entry, kept = _Entry(source, record, model, known, request), Ids()
            try:
                pieces = id_pieces(record, checkpoint, entry.places)
                job = _Pass(entry, _kept(pieces, kept, progress, Spot(record.id, record.length)), entry.running)
                yield job
                if job.error is None:
                    spot = Spot(record.id, len(kept))
                    for i in range(_windows(len(kept), request.window)):
                        ids = kept.read(i * request.window, min((i + 1) * request.window, len(kept)))
                        progress.advance(len(ids), record=spot.on(len(ids)))
                        yield _Pass(entry, [ids], _Running(model, known, 0))
            finally:
                kept.close()
    finally:
        progress.finish()


def _kept(pieces: Iterator[np.ndarray], kept: Ids, progress: Progress, spot: Spot) -> Iterator[np.ndarray]:
    for ids in pieces:
        kept.add(ids)
        progress.advance(len(ids), record=spot.on(len(ids)))
        yield ids
