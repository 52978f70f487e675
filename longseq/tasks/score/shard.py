"""Scores in shards: what one keeps, and the folder that all of them make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from longseq.errors import UsageError
from longseq.formats.atomic import free_directory, no_directory
from longseq.log import Progress
from longseq.tasks.score.request import Request
from longseq.tasks.score.run import Result, settings_of, write
from longseq.tasks.score.scorer import Scorer
from longseq.tasks.score.walk import Walk
from longseq.tasks.score.work import Work
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.gather import Batch
from longseq.tasks.shards.laid import Laid, blocks
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.shards.spool import Bulk, SpoolWriter
from longseq.tasks.sources import ModelName, Source, require_some
from longseq.tasks.summarize.model import LoadedModel

COMMAND = "score"
OF_INPUTS = ("inputs", "digests of the inputs")
"""Settings that a batch keeps in its plan."""


class Strand(NamedTuple):
    """A strand, scored."""

    row: dict[str, Any]
    """As `Work` keeps it."""
    bits: Bulk
    """Of each of its bases in the order read, where a track is asked for."""


KINDS = (Strand,)
"""Frames of a shard's spool."""


class _Told:
    """What a scorer tells, into a spool."""

    def __init__(self, spool: SpoolWriter, *, track: bool):
        self._spool, self._bits, self._track = spool, Laid(spool, 1, "<f4"), track
        self.tracked = 0

    def track(self, bits: np.ndarray) -> None:
        self._bits.write(self.tracked, bits[:, None])
        self.tracked += len(bits)

    def row(self, row: dict[str, Any]) -> None:
        self._spool.put(Strand(row, self._bits.last(row["length"] if self._track else 0)))


def order_of(request: Request, model: LoadedModel) -> Order:
    """What all shards of a batch have in common.

    Raises:
        UsageError: a state, which belongs to one record.
    """
    if request.one:
        raise UsageError("a state belongs to one record", where="--shard", remedy="leave --state and --save-state out")
    settings = settings_of(request, model)
    return Order(
        command=COMMAND,
        inputs=request.inputs,
        request={name: value for name, value in settings.items() if name not in OF_INPUTS},
        models={"model": model.sha256},
        reading=Reading(on_unknown=request.on_unknown),
    )


def fill(shard: Shard, request: Request, model: LoadedModel, progress: Progress) -> None:
    """Read a shard's records into its spool."""
    walk, told = Walk(request, shard.part), _Told(shard.spool, track=request.track)
    shard.sources = walk.sources
    Scorer(model.surprisal, request, told, walk, None, None, progress).run(None)
    name = ModelName(model.surprisal.checkpoint.name, model.surprisal.checkpoint.soft_masked)
    shard.facts = {"settings": settings_of(request, model), "model": name._asdict()}


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
