"""Vectors in shards: what one keeps, and the table that all of them make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from longseq.log import Progress
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.embed.request import Request
from longseq.tasks.embed.run import embeddings, heading_of, too_many
from longseq.tasks.embed.table import Embedded, EmbeddedTable, Heading
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.gather import Batch
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.sources import ModelName, Source, require_some, sources_of

COMMAND = "embed"
KINDS = (Embedded,)
"""Frames of a shard's spool."""


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


def merge(
    batch: Batch, out: str | Path, *, npy: str | Path | None = None, force: bool = False
) -> tuple[list[Source], int]:
    """Write what `embed` does, from all shards; the sources, and the rows.

    Raises:
        InputError, UsageError, OutputExistsError: as `embed`, or of a damaged shard.
    """
    facts: dict[str, Any] = batch.facts
    sources: list[Source] = list(batch.sources())
    most = batch.request["most"] if batch.request["per"] == "base" else None
    with EmbeddedTable(Heading(**facts["heading"]), out, npy=npy, force=force) as table:
        for _, part in batch.frames(KINDS):
            table.take(part)
            if most is not None and table.rows > most:
                raise too_many(most, table.heading.width, table.rows)
        require_some(sources, ModelName(**facts["model"]))
    return sources, table.rows
