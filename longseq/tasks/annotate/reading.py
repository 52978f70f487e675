"""Records through a model of classes, one by one, for intervals and for genes; a stopped run's are passed over."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from longseq import __version__
from longseq.errors import InputError
from longseq.formats.digest import file_digest
from longseq.log import Progress
from longseq.records import Record
from longseq.streaming.class_lanes import classified
from longseq.streaming.classes import Classified, ClassReader
from longseq.tasks.annotate.names import Names, require_apart
from longseq.tasks.annotate.work import SCHEMA, Row, Work
from longseq.tasks.places import walk
from longseq.tasks.sources import Asked, Source, require_some, warn_of_clipping


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
            "digest of the input": file_digest(self.source),
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


Text = Callable[[Held], Iterator[bytes]]
"""What the model is given of a record; its length is known afterwards."""
Take = Callable[[Row, Held, Iterator[Classified]], Iterator[int]]
"""Takes what the model says of a record; gives the bases of each part as it passes."""


def read_records(
    request: FileRequest, reader: ClassReader, work: Work, what: str, text: Text, take: Take, progress: Progress
) -> Source:
    """Have `take` told of all records that `work` does not hold yet; `what` goes by name.

    Raises:
        InputError: the file cannot be read, or none of its records; where some can, their errors are in the source.
        StoppedError, KeyboardInterrupt: a signal came.
    """
    source, names = Source(request.source), Names(what)
    progress.start("annotate", None, "base")
    try:
        for held, parts in classified(reader, _records(request, source, reader, work, names, text)):
            record = held.record
            try:
                head = list(itertools.islice(parts, 1))  # both passes wait for the last letter: the length is known
                start, length = int(record.notes.get("offset", 0)), record.length or 0
                row = Row(record.source, names.give(record), start, length, held.circular, record.truncated)
                for size in take(row, held, itertools.chain(head, parts)):
                    progress.advance(size)
                    work.give_way()
            except InputError as error:
                source.fail(error)
                work.add(None)
            else:
                _count(source, record)
                work.add(row)
    finally:
        progress.finish()
    require_some([source], reader.checkpoint)
    return source


def _records(
    request: FileRequest, source: Source, reader: ClassReader, work: Work, names: Names, text: Text
) -> Iterator[tuple[Held, Iterator[bytes]]]:
    passed = len(work.rows)
    for _, record in walk([source], reader.checkpoint, request):
        held = Held(record, not request.regions and record.topology == "circular")
        if passed:
            passed -= 1
            _pass_over(source, record, names)
            work.give_way()
        else:
            yield held, text(held)


def _pass_over(source: Source, record: Record, names: Names) -> None:
    """A record that the run before was through with, well or not."""
    try:
        for _ in whole(record):
            pass
        names.give(record)
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
