"""The folder that the shards of a batch make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from longseq.formats.atomic import free_directory, no_directory
from longseq.tasks.score.work import Work
from longseq.tasks.score.write import Result, write
from longseq.tasks.shards.gather import Batch
from longseq.tasks.shards.laid import blocks
from longseq.tasks.shards.spool import Bulk
from longseq.tasks.sources import ModelName, Source, require_some

COMMAND = "score"


class Strand(NamedTuple):
    """A strand, scored."""

    row: dict[str, Any]
    """As `Work` keeps it."""
    bits: Bulk
    """Of each of its bases in the order read, where a track is asked for."""


KINDS = (Strand,)
"""Frames of a shard's spool."""


@contextmanager
def merged(batch: Batch, out: str, *, command: str = "", force: bool = False) -> Iterator[Result]:
    """The folder that `score` writes, from all shards; the result can be read inside the block. `command` is said in
    run.json.

    Raises:
        InputError, OutputExistsError: as `score`, or of a damaged shard.
    """
    target, facts = free_directory(out, force=force), batch.facts
    if not target.parent.is_dir():
        raise no_directory(out)
    settings: dict[str, Any] = facts["settings"]
    work = Work.temporary(target.parent)
    try:
        work.begin({"command": command, **settings}, resume=False, force=True)
        for spool, strand in batch.frames(KINDS):
            offset = work.tracked
            for _, bits in blocks(spool, strand.bits, 1):
                work.track(bits[:, 0])
            work.row(strand.row | {"offset": offset})
        sources: list[Source] = list(batch.sources())
        require_some(sources, ModelName(**facts["model"]))
        result = Result([source.row() for source in sources], work)
        write(result, out, settings["track_format"] if settings["track"] else None, force=force)
        yield result
    finally:
        work.remove()
