"""Many records through one model: short ones side by side, long ones in pieces, results in input order."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from longseq.errors import InputError
from longseq.streaming.ahead import records_ahead
from longseq.streaming.lanes import Job, Pool
from longseq.streaming.reader import Scored, SurprisalReader
from longseq.streaming.snapshot import Snapshot

if TYPE_CHECKING:
    from longseq.streaming.surprisal import Lanes, Surprisal, Take

K = TypeVar("K")

BEHIND = 256
"""Records that may wait for the one in front of them."""


class Track(Iterator[Scored]):
    """The readings of one record, in order; ends with its last token, or raises the InputError that ended it."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """What a later reading needs to go on from where this one stands; after its end, with letters appended."""


class _Short(Track):
    """A record that passes side by side with others, and is handed out whole."""

    def __init__(self, surprisal: Surprisal, job: Job | None, error: InputError | None = None):
        self._surprisal, self._error = surprisal, error
        self._job = Job(np.zeros(0, np.uint8)) if job is None else job
        self._over = False

    @property
    def done(self) -> bool:
        return self._job.done

    def __next__(self) -> Scored:
        if self._over:
            raise StopIteration
        self._over = True
        if self._error is not None:
            raise self._error
        return Scored(self._job.ids, self._job.bits).since(self._job.given)

    def snapshot(self) -> Snapshot:
        return Snapshot(
            state=None,
            model_sha256=self._surprisal.checkpoint.sha256,
            position=0,
            carry=self._surprisal.tokenizer.decode(self._job.ids),
            given=len(self._job.ids) if self._over else self._job.given,
            chunk=self._surprisal.chunk,
            precision=self._surprisal.precision,
        )


class _Long(Track):
    """A record that passes alone, in pieces."""

    def __init__(self, reader: SurprisalReader, held: np.ndarray, pieces: Iterator[np.ndarray]):
        self._reader = reader
        self._parts = self._read(held, pieces)

    def __next__(self) -> Scored:
        return next(self._parts)

    def snapshot(self) -> Snapshot:
        return self._reader.snapshot()

    def _read(self, held: np.ndarray, pieces: Iterator[np.ndarray]) -> Iterator[Scored]:
        yield from self._reader.parts(held)
        for ids in pieces:
            yield from self._reader.parts(ids)
        yield from self._reader.rest()


def tracks(
    surprisal: Surprisal,
    records: Iterable[tuple[K, Iterable[bytes]]],
    start: Snapshot | None,
    watch: Callable[[K], Take] | None,
) -> Iterator[tuple[K, Track]]:
    """See `Surprisal.many`."""
    order: deque[tuple[K, _Short, Pool | None]] = deque()
    pools: dict[Lanes, Pool] = {}
    source = records_ahead(_encoded(surprisal, records))
    failure: Exception | None = None

    def ready(behind: int) -> Iterator[tuple[K, Track]]:
        """Those in front that are done; the model steps until no more than `behind` are left."""
        while order:
            key, track, pool = order[0]
            if not track.done:
                if len(order) <= behind:
                    return
                assert pool is not None
                pool.step()
                continue
            order.popleft()
            yield key, track

    try:
        while True:
            try:
                found = next(source, None)
            except Exception as error:  # what was read before is whole, and comes first
                failure = error
                break
            if found is None:
                break
            key, pieces = found
            first, start = start, None
            take = None if watch is None else watch(key)
            reader = SurprisalReader(surprisal, first, take)
            try:
                held = [] if reader.position else beginning(pieces, surprisal.side_by_side)
            except InputError as error:
                order.append((key, _Short(surprisal, None, error), None))
                continue
            ids = np.concatenate([np.zeros(0, np.uint8), *held])
            shape = None if reader.position else surprisal.lanes(len(ids) + len(first.carry if first else b""))
            if shape is None:
                yield from ready(0)
                yield key, _Long(reader, ids, pieces)
                continue
            if first is not None:
                ids = np.concatenate([surprisal.tokenizer.encode(first.carry)[0], ids])
            job = Job(ids, first.given if first else 0, take)
            pool = pools.setdefault(shape, Pool(surprisal, shape))
            order.append((key, _Short(surprisal, job), pool))
            pool.add(job)
            yield from ready(BEHIND)
        yield from ready(0)
    finally:
        source.close()  # type: ignore[attr-defined]
    if failure is not None:
        raise failure


def _encoded(
    surprisal: Surprisal, records: Iterable[tuple[K, Iterable[bytes]]]
) -> Iterator[tuple[K, Iterator[np.ndarray]]]:
    def ids(pieces: Iterable[bytes]) -> Iterator[np.ndarray]:
        at = 0
        for piece in pieces:
            yield surprisal.tokenizer.encode(piece, at)[0]
            at += len(piece)

    try:
        for key, pieces in records:
            yield key, ids(pieces)
    finally:
        if hasattr(records, "close"):
            records.close()


def beginning(pieces: Iterator[np.ndarray], most: int) -> list[np.ndarray]:
    """The pieces of a record up to its end, or until they are more than `most` tokens."""
    held, length = [], 0
    for ids in pieces:
        held.append(ids)
        length += len(ids)
        if length > most:
            break
    return held
