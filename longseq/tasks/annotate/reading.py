"""Records through a model of classes, one by one, for intervals and for genes; a stopped run's are passed over."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import torch

from longseq import __version__
from longseq.errors import InputError
from longseq.formats.digest import same_digest
from longseq.log import Progress, Spot
from longseq.records import Record
from longseq.streaming.class_lanes import classified
from longseq.streaming.classes import Classified, ClassReader
from longseq.tasks.annotate.names import require_apart
from longseq.tasks.annotate.work import SCHEMA, Row
from longseq.tasks.places import walk
from longseq.tasks.sources import Asked, Source, warn_of_clipping
from longseq.tasks.summarize.estimate import estimate_all

DIGEST = "digest of the input"
"""Among the settings of a run."""


@dataclass(frozen=True, kw_only=True)
class FileRequest(Asked):
    """What is wanted of a file."""

    source: str
    """`-` is standard input."""
    options: ClassVar[dict[str, str]] = {}
    """Fields that the command line calls by another name, by which a resumed run speaks of them."""

    def __post_init__(self):
        require_apart(self.regions)

    def settings(self, reader: ClassReader) -> dict[str, Any]:
        """All that a result depends on."""
        others = ("source", "regions", "alias")
        wanted = {self.options.get(name, name): value for name, value in vars(self).items() if name not in others}
        return {
            "schema": SCHEMA,
            "version": __version__,
            "input": self.source,
            DIGEST: same_digest(self.source),
            "model": reader.checkpoint.sha256,
            "device": str(next(reader.checkpoint.model.parameters()).device),
            "precision": reader.precision,
            "threads": torch.get_num_threads(),
            "chunk": reader.chunk,
            "regions": self.places(),
            "alias": [list(pair) for pair in self.alias],
            **wanted,
        }


@dataclass
class Held:
    """A record and, where a reading keeps them, its letters."""

    record: Record
    circular: bool
    letters: bytes = b""


class Kept(Protocol):
    """Where records go when they are over."""

    @property
    def rows(self) -> Sequence[Row | None]:
        """Those that an earlier run was through with, None where not well."""

    def add(self, row: Row | None) -> None:
        """One more is over."""

    def give_way(self) -> None:
        """Stop here if a signal came."""


class Spool(Protocol):
    """Where rows of numbers of records go, one record behind the other."""

    def write(self, start: int, rows: np.ndarray) -> None:
        """Put rows (T, width) at row `start`."""


Text = Callable[[Held], Iterator[bytes]]
"""What the model is given of a record; its length is known afterwards."""
Take = Callable[[Row, Held, Iterator[Classified]], Iterator[int]]
"""Takes what the model says of a record; gives the bases of each part as it passes."""


def read_records(
    request: FileRequest,
    reader: ClassReader,
    source: Source,
    kept: Kept,
    name: Callable[[Record], str],
    text: Text,
    take: Take,
    progress: Progress,
) -> None:
    """Have `take` told of all records of `source` that are not kept yet; what cannot be read is told to the source.

    Args:
        name: That of a record whose length is known, or an InputError.

    Raises:
        StoppedError, KeyboardInterrupt: a signal came.
    """
    total = None if source.span is not None else estimate_all([request.source], request)
    progress.start("annotate", total, "base")
    try:
        for held, parts in classified(reader, _records(request, source, reader, kept, name, text)):
            record = held.record
            try:
                head = list(itertools.islice(parts, 1))  # both passes wait for the last letter: the length is known
                start, length = int(record.notes.get("offset", 0)), record.length or 0
                row = Row(record.source, name(record), start, length, held.circular, record.truncated)
                spot = Spot(row.name, length)
                for size in take(row, held, itertools.chain(head, parts)):
                    progress.advance(size, record=spot.on(size))
                    kept.give_way()
            except InputError as error:
                source.fail(error)
                kept.add(None)
            else:
                _count(source, record)
                kept.add(row)
    finally:
        progress.finish()


def _records(
    request: FileRequest,
    source: Source,
    reader: ClassReader,
    kept: Kept,
    name: Callable[[Record], str],
    text: Text,
) -> Iterator[tuple[Held, Iterator[bytes]]]:
    passed = len(kept.rows)
    for _, record in walk([source], reader.checkpoint, request):
        held = Held(record, not request.regions and record.topology == "circular")
        if passed:
            passed -= 1
            _pass_over(source, record, name)
            kept.give_way()
        else:
            yield held, text(held)


def _pass_over(source: Source, record: Record, name: Callable[[Record], str]) -> None:
    """A record that the run before was through with, well or not."""
    try:
        for _ in whole(record):
            pass
        name(record)
    except InputError as error:
        source.fail(error)
    else:
        _count(source, record)


def whole(record: Record) -> Iterator[bytes]:
    """Its letters; then its length is known."""
    length = 0
    for piece in record.pieces:
        assert isinstance(piece, bytes)
        length += len(piece)
        yield piece
    record.length = length
    warn_of_clipping(record)


def _count(source: Source, record: Record) -> None:
    source.records, source.length = source.records + 1, source.length + (record.length or 0)
    source.truncated |= record.truncated
