"""Many records through one model of classes: short ones side by side, long ones alone, results in input order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from longseq.errors import InputError
from longseq.streaming.classes import Classified, ClassReader
from longseq.streaming.hidden import HiddenReader, Job

K = TypeVar("K")


def classified(
    reader: ClassReader, records: Iterable[tuple[K, Iterable[bytes]]]
) -> Iterator[tuple[K, Iterator[Classified]]]:
    """The bases of many records: key, and what the reader says of them; exhaust one before asking for the next.

    What is said of a record depends on that record alone, to the bit, and of its reverse complement mirrors it; a short
    one alone in the reader differs by rounding. An InputError in a record comes out of its iterator, and the others go
    on.

    Args:
        records: A key of the caller's choice, and letters in any pieces.
    """
    lanes = HiddenReader(reader.checkpoint, chunk=reader.chunk, precision=reader.precision)
    rest, long = iter(records), list[tuple[K, Iterable[bytes]]]()

    def short() -> Iterator[Job]:
        """Two readings a record, up to the first long one."""
        for key, pieces in rest:
            entry, held, walked = _Entry(key, reader), list[bytes](), iter(pieces)
            try:
                while sum(map(len, held)) <= lanes.side_by_side and (piece := next(walked, None)) is not None:
                    held.append(piece)
                if sum(map(len, held)) > lanes.side_by_side:
                    long.append((key, chain(held, walked)))
                    return
                entry.begin(b"".join(held))
            except InputError as error:
                entry.error = error
            yield from entry.jobs()

    while True:
        for job in lanes.passed(short()):
            if isinstance(job, _Forwards):
                yield job.entry.key, job.entry.parts()
        if not long:
            return
        key, pieces = long.pop()
        yield key, reader(pieces)


class _Entry(Generic[K]):
    """A short record on its way, in both directions."""

    def __init__(self, key: K, reader: ClassReader):
        self.key, self._reader = key, reader
        self.error: InputError | None = None
        self.ids = np.zeros(0, np.uint8)
        self._own: list[Tensor] = []
        self._other: list[Tensor] = []

    def begin(self, letters: bytes) -> None:
        self.ids = self._reader.tokenizer.encode(letters)[0]

    def jobs(self) -> Iterator[Job]:
        reverse = self._reader.tokenizer.complement(self.ids[::-1])
        yield Job([reverse], lambda _, hidden: self._other.append(self._reader.scores(hidden)))
        yield _Forwards(self)

    def take(self, _: np.ndarray, hidden: Tensor) -> None:
        self._own.append(self._reader.scores(hidden))

    def parts(self) -> Iterator[Classified]:
        if self.error is not None:
            raise self.error
        if len(self.ids):
            found = self._reader.joined(torch.cat(self._own), torch.cat(self._other).flip(0))
            yield Classified(self.ids, found.cpu().numpy())


class _Forwards(Job):
    """The second reading of a record."""

    def __init__(self, entry: _Entry):
        super().__init__([entry.ids], entry.take)
        self.entry = entry
