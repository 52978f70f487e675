"""Classes in shards: what one of them keeps."""

from __future__ import annotations

from dataclasses import asdict

import torch

from longseq.log import Progress
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify.merge import COMMAND
from longseq.tasks.classify.reading import Request, classified
from longseq.tasks.classify.run import answers_of, doubts_of, facts_of
from longseq.tasks.places import reads_dna
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.models import model_digest
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.sources import ModelName, sources_of


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
