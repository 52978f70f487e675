"""Variants in shards of rows: what one of them keeps, which is what windows cost."""

from __future__ import annotations

import numpy as np

from longseq.log import Progress
from longseq.tasks.shards.cut import VARIANTS
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.sources import Source
from longseq.tasks.variants.kept import DIGEST
from longseq.tasks.variants.merge import COMMAND, Costs
from longseq.tasks.variants.run import VariantRun

OF_INPUTS = ("variants", "digest of the variants", "rows")
"""Settings that a batch keeps in its plan."""
AT_ONCE = 4096
"""Windows of a frame."""


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
