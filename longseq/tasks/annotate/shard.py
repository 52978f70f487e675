"""Annotations in shards: what one of them keeps.

Results go by name, and genes learn from all records: names are given, intervals and genes are told in the merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from longseq.formats.genetic_code import genetic_code
from longseq.log import Progress
from longseq.records import Record
from longseq.streaming.classes import ClassReader
from longseq.tasks.annotate import predict, run
from longseq.tasks.annotate.finder import GeneFinder
from longseq.tasks.annotate.merge import COMMAND, LETTERS, ODDS, Kept, Lost
from longseq.tasks.annotate.names import own_name
from longseq.tasks.annotate.predict import GeneRequest
from longseq.tasks.annotate.reading import DIGEST
from longseq.tasks.annotate.run import Request
from longseq.tasks.annotate.work import Row
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.laid import Laid
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.sources import ModelName, Source, sources_of

OF_INPUTS = ("input", DIGEST)
"""Settings that a batch keeps in its plan."""


class _Part:
    """A shard's records on their way into its spool; no run was before it, and a signal ends it at once."""

    rows: tuple[Row, ...] = ()

    def __init__(self, shard: Shard, source: Source, laid: Sequence[Laid]):
        self._shard, self._source, self._laid, self._where = shard, source, laid, ""

    def name(self, record: Record) -> str:
        self._where = record.where
        return own_name(record)

    def add(self, row: Row | None) -> None:
        if row is None:
            # Of the first ones that a source names; others are only counted.
            self._shard.spool.put(Lost(str(self._source.errors[-1])))
        else:
            self._shard.spool.put(Kept(row, self._where, tuple(one.last(row.length) for one in self._laid)))

    def give_way(self) -> None: ...


def order_of(request: Request | GeneRequest, reader: ClassReader) -> Order:
    """What all shards of a batch have in common."""
    settings = request.settings(reader)
    return Order(
        command=COMMAND,
        inputs=(request.source,),
        request={name: value for name, value in settings.items() if name not in OF_INPUTS}
        | {"genes": isinstance(request, GeneRequest)},
        models={"model": reader.checkpoint.sha256},
        reading=Reading(on_unknown=request.on_unknown),
    )


def fill(shard: Shard, request: Request | GeneRequest, reader: ClassReader, progress: Progress) -> None:
    """Read a shard's records into its spool."""
    (source,) = shard.sources = sources_of([request.source], shard.part) or [Source(request.source)]
    if isinstance(request, GeneRequest):
        letters, odds = Laid(shard.spool, LETTERS, np.uint8), Laid(shard.spool, ODDS, np.float16)
        heading: Any = predict.heading_of(request, reader)
        with GeneFinder(reader, genetic_code(request.code), spools=(letters, odds)) as finder:
            kept = _Part(shard, source, (letters, odds))
            if shard.part.spans:
                predict.read(request, reader, source, kept, kept.name, finder, progress)
    else:
        laid = Laid(shard.spool, len(reader.labels), np.float32)
        heading = run.heading_of(request, reader)
        kept = _Part(shard, source, (laid,))
        if shard.part.spans:
            run.read(request, reader, source, kept, kept.name, laid, 0, progress)
    name = ModelName(reader.checkpoint.name, reader.checkpoint.soft_masked)
    shard.facts = {"heading": vars(heading), "model": name._asdict()}
