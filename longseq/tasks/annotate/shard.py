"""Annotations in shards: what one keeps of its records, and the directory that all of them make.

Results go by name, and genes learn from all records: names are given, intervals and genes are told in the merge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from longseq.errors import InputError
from longseq.formats.atomic import free_directory, no_directory
from longseq.formats.genetic_code import genetic_code
from longseq.log import Progress
from longseq.records import Record
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.streaming.classes import ClassReader
from longseq.streaming.rows import RowSpool
from longseq.tasks.annotate import gene_sheets, predict, run, tracks
from longseq.tasks.annotate.finder import GeneChooser, GeneFinder
from longseq.tasks.annotate.names import Names, own_name
from longseq.tasks.annotate.predict import GeneRequest
from longseq.tasks.annotate.run import Request
from longseq.tasks.annotate.work import Row
from longseq.tasks.shards.folder import Shard
from longseq.tasks.shards.gather import Batch
from longseq.tasks.shards.laid import Laid, blocks
from longseq.tasks.shards.order import Order, Reading
from longseq.tasks.shards.spool import Bulk
from longseq.tasks.sources import ModelName, Source, require_some, sources_of

COMMAND = "annotate"
OF_INPUTS = ("input", "digest of the input")
"""Settings that a batch keeps in its plan."""
LETTERS, ODDS = 1, 6
"""Numbers a base of what genes are told from."""


class Kept(NamedTuple):
    """A record that was read to its end; its name may be another's, too."""

    row: Row
    where: str
    """It stands, for people."""
    laid: tuple[Bulk, ...]
    """Probabilities of its bases, or letters and log odds."""


class Lost(NamedTuple):
    """A record that could not be read to its end."""

    said: str


KINDS = (Kept, Lost)
"""Frames of a shard's spool."""


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


def merge(
    batch: Batch, out: str | Path, *, provenance: Callable[[SourceRow], Run], force: bool = False
) -> tuple[SourceRow, int]:
    """Write what `annotate` does, from all shards; the file as it was read, and the number of intervals or genes.

    Raises:
        InputError, OutputExistsError: as `annotate`, or of a damaged shard.
    """
    target, facts = free_directory(out, force=force), batch.facts
    if not target.parent.is_dir():
        raise no_directory(out)
    genes, heading, model = batch.request["genes"], facts["heading"], ModelName(**facts["model"])
    if genes:
        told = gene_sheets.Heading(**heading)
        with RowSpool(LETTERS, np.uint8, target.parent) as letters, RowSpool(ODDS, np.float16, target.parent) as odds:
            rows, source = _gathered(batch, (letters, odds), gene_sheets.WHAT)
            require_some([source], model)
            found = source.row()
            with GeneChooser(genetic_code(told.code), shortest=told.shortest, spools=(letters, odds)) as chooser:
                for row in rows:
                    chooser.recall(row.name, row.length, start=row.start, circular=row.circular)
                number = gene_sheets.write(told, rows, chooser, out, found, provenance(found), force=force)
        return found, number
    sheet = tracks.Heading(**heading | {"labels": tuple(heading["labels"])})
    with RowSpool(len(sheet.labels), np.float32, target.parent) as spool:
        rows, source = _gathered(batch, (spool,), tracks.WHAT)
        require_some([source], model)
        found = source.row()
        return found, tracks.write(sheet, rows, spool, out, found, provenance(found), force=force)


def _gathered(batch: Batch, spools: Sequence[RowSpool], what: str) -> tuple[list[Row], Source]:
    """Records that have a name of their own, their numbers in the spools, and the input as it was read."""
    (source,) = batch.sources()
    source.errors, source.failed = [], 0
    names, rows, first = Names(what), list[Row](), 0
    for shard, frame in batch.frames(KINDS):
        if isinstance(frame, Lost):
            source.fail(InputError(frame.said))
            continue
        try:
            names.claim(frame.row.name, frame.where)
        except InputError as error:
            source.fail(error)
            source.records, source.length = source.records - 1, source.length - frame.row.length
            continue
        for spool, laid in zip(spools, frame.laid, strict=True):
            for at, block in blocks(shard, laid, spool.width):
                spool.write(first + at, block)
        rows.append(frame.row)
        first += frame.row.length
    return rows, source
