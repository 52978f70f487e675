"""Classes in shards: what one keeps, and the folder that all of them make."""

from __future__ import annotations

import logging
from dataclasses import asdict

import torch

from longseq.log import Progress
from longseq.model import HeadConfig
from longseq.model.calibration import Calibration
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify.answers import Answers, Head
from longseq.tasks.classify.reading import Classified, Request, classified
from longseq.tasks.classify.run import answers_of, doubts_of, facts_of
from longseq.tasks.classify.write import Teller, folder_of
from longseq.tasks.places import reads_dna
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.gather import Batch
from longseq.tasks.shards.models import model_digest
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.sources import ModelName, Source, require_some, sources_of

log = logging.getLogger("longseq")

COMMAND = "classify"
KINDS = (Classified,)
"""Frames of a shard's spool."""


def order_of(request: Request, reader: HiddenReader) -> Order:
    """What all shards of a batch have in common.

    Raises:
        UsageError: a model without a head.
    """
    checkpoint = reader.checkpoint
    facts = facts_of(request, reader, answers_of(reader), "")
    wanted = {name: facts[name] for name in ("model", "every", "window", "chunk", "precision", "device")}
    return Order(
        command=COMMAND,
        inputs=request.inputs,
        request=wanted | {"evidence": request.evidence, "threads": torch.get_num_threads()},
        models={"model": model_digest(str(checkpoint.path))},
        reading=Reading(column=request.column, on_unknown=request.on_unknown),
    )


def fill(shard: Shard, request: Request, reader: HiddenReader, progress: Progress) -> None:
    """Read a shard's records into its spool."""
    answers, checkpoint = answers_of(reader), reader.checkpoint
    sources = sources_of(request.inputs, shard.part)
    shard.sources = sources
    for found in classified(request, reader, sources, progress):
        shard.spool.put(found)
    shard.facts = {
        "labels": answers.labels,
        "head": asdict(answers.head_config),
        "calibration": None if answers.calibration is None else asdict(answers.calibration),
        "documents": not reads_dna(checkpoint),
        "run": facts_of(request, reader, answers, ""),
        "doubts": doubts_of(reader, answers),
        "model": ModelName(checkpoint.name, checkpoint.soft_masked)._asdict(),
    }


def merge(batch: Batch, out: str, *, command: str = "", force: bool = False) -> list[Source]:
    """Write the folder that `classify` does, from all shards; the sources. `command` is said in run.json.

    Raises:
        InputError, OutputExistsError: as `classify`, or of a damaged shard.
    """
    facts = batch.facts
    head = Head(HeadConfig(**facts["head"]), tuple(facts["labels"]))
    calibration = None if facts["calibration"] is None else Calibration(**facts["calibration"])
    answers = Answers(head, calibration)
    sources: list[Source] = list(batch.sources())
    for doubt in facts["doubts"]:
        log.warning("%s", doubt)
    run = facts["run"] | {"command": command}
    with folder_of(out, answers, run, documents=facts["documents"], force=force) as sinks:
        teller = Teller(answers, sinks)
        for _, found in batch.frames(KINDS):
            teller.take(found)
        require_some(sources, ModelName(**facts["model"]))
    return sources
