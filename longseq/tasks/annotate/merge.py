"""The folder that the shards of a batch make: names are given, and intervals and genes told, of all records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longseq.errors import InputError
from longseq.formats.atomic import free_directory, no_directory
from longseq.formats.genetic_code import genetic_code
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.streaming.rows import RowSpool
from longseq.tasks.annotate import gene_sheets, tracks
from longseq.tasks.annotate.finder import GeneChooser
from longseq.tasks.annotate.names import Names
from longseq.tasks.annotate.work import Row
from longseq.tasks.shards.gather import Batch
from longseq.tasks.shards.laid import blocks
from longseq.tasks.shards.spool import Bulk
from longseq.tasks.sources import ModelName, Source, require_some

COMMAND = "annotate"
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
