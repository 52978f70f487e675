"""Variants in shards of rows: what windows cost is kept of each, and the answers that all of them make."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from longseq.errors import InputError, place
from longseq.log import Progress
from longseq.tasks.shards.cut import VARIANTS
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.gather import Batch
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.sources import Source
from longseq.tasks.variants.answers import VariantAnswers
from longseq.tasks.variants.kept import DIGEST
from longseq.tasks.variants.request import VariantRequest
from longseq.tasks.variants.run import VariantRun

COMMAND = "score --reference"
OF_INPUTS = ("variants", "digest of the variants", "rows")
"""Settings that a batch keeps in its plan."""
AT_ONCE = 4096
"""Windows of a frame."""


class Costs(NamedTuple):
    """What windows cost."""

    digests: np.ndarray
    """(W, 16) uint8, of their letters."""
    bits: np.ndarray
    """(W,) float64."""


KINDS = (Costs,)
"""Frames of a shard's spool."""


def order_of(run: VariantRun) -> Order:
    """What all shards of a batch have in common."""
    request = {name: value for name, value in run.settings().items() if name not in OF_INPUTS}
    return Order(
        command=COMMAND,
        inputs=(run.request.variants,),
        request=request,
        models={"model": run.model.sha256},
        reading=Reading(kind=VARIANTS, on_unknown=run.request.on_unknown),
    )


def fill(shard: Shard, run: VariantRun, command: str, progress: Progress) -> None:
    """Score the windows of a shard's rows into its spool; `command` is said in the result."""
    span = shard.part.spans.get(0)
    rows = range(0) if span is None else range(span.first, span.last)
    run.score(rows=rows, progress=progress)
    found = list(run.scores.items())
    for first in range(0, len(found), AT_ONCE):
        some = found[first : first + AT_ONCE]
        digests = np.frombuffer(b"".join(key for key, _ in some), np.uint8).reshape(-1, DIGEST)
        shard.spool.put(Costs(digests, np.array([bits for _, bits in some], np.float64)))
    shard.sources = [Source(run.request.variants, records=len(rows), length=run.tokens)]
    shard.facts = {"command": command, "request": vars(run.request), "settings": run.settings()}


class Merged(VariantAnswers):
    """The run that a batch was cut from, with what its windows cost; close it."""

    def __init__(self, batch: Batch):
        """Raises InputError: as `VariantAnswers`, or the table or the reference is not what it was."""
        facts: dict[str, Any] = batch.facts
        asked = facts["request"] | {"alias": tuple(map(tuple, facts["request"]["alias"]))}
        self._settings = facts["settings"]
        super().__init__(VariantRequest(**asked))
        try:
            self._require_unchanged()
            for _, costs in batch.frames(KINDS):
                for key, bits in zip(costs.digests, costs.bits.tolist(), strict=True):
                    self.scores[key.tobytes()] = bits
        except BaseException:
            self.close()
            raise

    def settings(self) -> dict[str, Any]:
        return self._settings

    def _require_unchanged(self) -> None:
        names = (("variants", self.request.variants), ("reference", self.request.reference))
        for (name, file), now in zip(names, self.digests, strict=True):
            if self._settings[f"digest of the {name}"] != now:
                raise InputError(
                    "is not what it was when its shards were scored", where=place(file), remedy="score them again"
                )
