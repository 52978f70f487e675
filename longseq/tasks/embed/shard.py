"""Vectors in shards: what one of them keeps."""

from __future__ import annotations

import torch

from longseq.log import Progress
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.embed.merge import COMMAND
from longseq.tasks.embed.request import Request
from longseq.tasks.embed.run import embeddings, heading_of
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.sources import ModelName, sources_of


def order_of(request: Request, reader: HiddenReader) -> Order:
    """What all shards of a batch have in common.

    Raises:
        UsageError: what cannot be had of this model, or cut.
    """
    heading = heading_of(request, reader, "")
    return Order(
        command=COMMAND,
        inputs=request.inputs,
        request=heading.facts | {"most": request.most, "threads": torch.get_num_threads()},
        models={"model": heading.model},
        reading=Reading(column=request.column, on_unknown=request.on_unknown),
    )


def fill(shard: Shard, request: Request, reader: HiddenReader, command: str, progress: Progress) -> None:
    """Read a shard's records into its spool; `command` is said in the table."""
    sources = sources_of(request.inputs, shard.part)
    shard.sources = sources
    for part in embeddings(request, reader, sources, progress):
        shard.spool.put(part)
    name = ModelName(reader.checkpoint.name, reader.checkpoint.soft_masked)
    shard.facts = {"heading": vars(heading_of(request, reader, command)), "model": name._asdict()}
