"""The table that the shards of a batch make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longseq.tasks.embed.table import Embedded, EmbeddedTable, Heading, too_many
from longseq.tasks.shards.gather import Batch
from longseq.tasks.sources import ModelName, Source, require_some

COMMAND = "embed"
KINDS = (Embedded,)
"""Frames of a shard's spool."""


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
