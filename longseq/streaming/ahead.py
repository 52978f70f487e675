"""Reading ahead: a source is walked in a thread of its own, a bounded number of items before they are asked for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, TypeVar

from longseq.errors import InputError

T = TypeVar("T")
K = TypeVar("K")

DEPTH = 32
"""Items read and not yet asked for."""
POLL = 0.05
"""Seconds between two looks of a thread that waits for room at whether it is still wanted."""
PATIENCE = 2.0
"""Seconds that closing waits for a source that is in the middle of an item. Should it take longer, as a pipe that
nobody writes to does, its thread ends after that item and keeps no program from ending."""


class _Event(Enum):
    ITEM, END, ERROR, RECORD, FAILED = range(5)


def ahead(source: Iterable[T], depth: int = DEPTH) -> Iterator[T]:
    """The items of `source`, read in a thread, at most `depth` and one before they are asked for.

    What the source raises comes out where its item would have come, with its traceback. When the iterator ends or is
    closed, the thread has stopped and the source is closed.
    """
    channel: queue.Queue[tuple[_Event, Any]] = queue.Queue(depth)
    stop = threading.Event()

    def put(event: _Event, value: Any = None) -> bool:
        while not stop.is_set():
            try:
                channel.put((event, value), timeout=POLL)
                return True
            except queue.Full:
                continue
        return False

    def walk() -> None:
        try:
            try:
                for item in source:
                    if not put(_Event.ITEM, item):
                        return
            finally:
                if hasattr(source, "close"):
                    source.close()
        except BaseException as error:  # whatever it is, it belongs to who asks for items
            put(_Event.ERROR, error)
        else:
            put(_Event.END)

    thread = threading.Thread(target=walk, name="ahead", daemon=True)
    thread.start()
    try:
        while True:
            event, value = channel.get()
            if event is _Event.END:
                return
            if event is _Event.ERROR:
                raise value
            yield value
    finally:
        stop.set()
        thread.join(PATIENCE)


def records_ahead(records: Iterable[tuple[K, Iterable[T]]], depth: int = DEPTH) -> Iterator[tuple[K, Iterator[T]]]:
    """Records as a key and pieces, each walked to its end in a thread before the next one is asked for.

    An InputError among the pieces of a record comes out of that record, and the others go on. What is left of a record
    when the next one is asked for is skipped.
    """
    events = ahead(_flat(records), depth)
    try:
        for event, key in events:
            if event is _Event.RECORD:  # anything else was left over of the record before
                yield key, _Pieces(events)
    finally:
        events.close()  # type: ignore[attr-defined]


def _flat(records: Iterable[tuple[Any, Iterable[Any]]]) -> Iterator[tuple[_Event, Any]]:
    try:
        for key, pieces in records:
            yield _Event.RECORD, key
            try:
                for piece in pieces:
                    yield _Event.ITEM, piece
                yield _Event.END, None
            except InputError as error:
                yield _Event.FAILED, error
    finally:
        if hasattr(records, "close"):
            records.close()


_NOTHING: tuple[_Event | None, Any] = (None, None)


class _Pieces(Iterator[Any]):
    """What the events say of one record."""

    def __init__(self, events: Iterator[tuple[_Event, Any]]):
        self._events, self._over = events, False

    def __next__(self) -> Any:
        if self._over:
            raise StopIteration
        event, value = next(self._events, _NOTHING)
        if event is _Event.ITEM:
            return value
        self._over = True
        if event is _Event.FAILED:
            raise value
        if event is not _Event.END:
            raise RuntimeError("the records were closed, or asked for the next one, in the middle of this one")
        raise StopIteration
