"""Scores in shards: what one of them keeps."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from longseq.errors import UsageError
from longseq.log import Progress
from longseq.tasks.score.merge import COMMAND, Strand
from longseq.tasks.score.request import Request
from longseq.tasks.score.run import settings_of
from longseq.tasks.score.scorer import Scorer
from longseq.tasks.score.walk import Walk
from longseq.tasks.score.work import Work
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.laid import Laid
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.shards.spool import SpoolWriter
from longseq.tasks.sources import ModelName
from longseq.tasks.summarize.model import LoadedModel

OF_INPUTS = ("inputs", "digests of the inputs")
"""Settings that a batch keeps in its plan."""


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
    work = cast(Work, told)  # without snapshots a scorer asks no more of it
    Scorer(model.surprisal, request, work, walk, None, None, progress).run(None)
    name = ModelName(model.surprisal.checkpoint.name, model.surprisal.checkpoint.soft_masked)
    shard.facts = {"settings": settings_of(request, model), "model": name._asdict()}
