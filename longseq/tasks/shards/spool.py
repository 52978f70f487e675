"""What a shard's writers would have been told, on disk: frames in order, and beside them what is too big for one.

A frame is a value of one of the command's classes (see `codec`). Its length stands before it, so that a reader holds
one at a time. Letters, tracks and vectors of windows are bulk: written in pieces, found again by where they lie.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from longseq.errors import InputError, LongseqError
from longseq.tasks.shards.codec import described, packed, require_known, unpacked
from longseq.tasks.shards.sums import CheckedFile, SummedFile

FRAMES, BULK = "frames.bin", "bulk.bin"
FILES = (FRAMES, BULK)
_HEAD = struct.Struct("<IIQ")
"""Number of the class, bytes of JSON, bytes of arrays."""
AGAIN = "run the shard again: --force"
_OTHERS = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    StopIteration,
    RecursionError,
    MemoryError,
)
PIECE = 1 << 16
"""Items read back at once."""


@dataclass(frozen=True)
class Bulk:
    """Where items of one type lie in `BULK`; a field of a frame."""

    at: int
    """Byte."""
    count: int
    """Items."""
    dtype: str
    """As NumPy spells it."""


class SpoolWriter:
    """Takes a shard's results in the order in which its writers would be told of them; use it as a context manager.

    Args:
        folder: Where its two files are made.
        kinds: Classes of the frames; the reader names the same ones.

    Raises:
        LongseqError: the disk takes no more; also from `put` and `keep`.
    """

    def __init__(self, folder: Path, kinds: Sequence[type]):
        self._kinds = {kind: number for number, kind in enumerate(kinds)}
        self._described = described(kinds)
        self._folder = folder
        with _room(folder):
            self._frames, self._bulk = SummedFile(folder / FRAMES), SummedFile(folder / BULK)
        self._count = 0

    def __enter__(self) -> SpoolWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._frames.close()
            self._bulk.close()

    def put(self, value: Any) -> None:
        """One more frame."""
        text, data = packed(value)
        with _room(self._folder):
            self._frames.write(_HEAD.pack(self._kinds[type(value)], len(text), len(data)))
            self._frames.write(text)
            self._frames.write(data)
        self._count += 1

    def keep(self, pieces: Iterable[np.ndarray | bytes], dtype: Any = np.uint8) -> Bulk:
        """Lay pieces aside, one behind the other: arrays of `dtype`, or letters; a frame may say where they are."""
        kind, first = np.dtype(dtype), self._bulk.size
        with _room(self._folder):
            for piece in pieces:
                self._bulk.write(piece if isinstance(piece, bytes) else np.ascontiguousarray(piece, kind).tobytes())
        return Bulk(first, (self._bulk.size - first) // kind.itemsize, kind.str)

    def close(self) -> None:
        """All of it is in the files."""
        with _room(self._folder):
            self._frames.close()
            self._bulk.close()

    def facts(self) -> dict[str, Any]:
        """What a reader must find, ready for JSON."""
        sizes = {"bytes": self._frames.size, "bulk_bytes": self._bulk.size}
        sums = {"sums": self._frames.sums, "bulk_sums": self._bulk.sums}
        return {"kinds": self._described, "frames": self._count, **sizes, **sums}


class SpoolReader:
    """The frames of one shard, and its bulk; use it as a context manager.

    Args:
        folder: The shard's.
        kinds: Classes of the frames, as they were written.
        facts: What the writer said of them.

    Raises:
        InputError: files that are gone, cut, or of other classes; while they are read, files that were changed.
    """

    def __init__(self, folder: Path, kinds: Sequence[type], facts: dict[str, Any]):
        self._kinds, self._frames_there, self._where = list(kinds), facts["frames"], str(folder)
        require_known(kinds, facts["kinds"], self._where)
        self._frames = CheckedFile(folder / FRAMES, facts["bytes"], facts["sums"], AGAIN)
        self._bulk = CheckedFile(folder / BULK, facts["bulk_bytes"], facts["bulk_sums"], AGAIN)

    def __enter__(self) -> SpoolReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._frames.close()
        self._bulk.close()

    def __iter__(self) -> Iterator[Any]:
        """The values, in order; one is held at a time."""
        self._frames.seek(0)
        read = self._frames.read
        for _ in range(self._frames_there):
            try:
                number, text, data = _HEAD.unpack(read(_HEAD.size))
                value = unpacked(self._kinds[number], read(text), read(data))
            except (*_OTHERS, struct.error) as error:  # of another making: its sums are right
                raise InputError(f"is damaged ({error})", where=f"{self._where}/{FRAMES}", remedy=AGAIN) from None
            yield value

    def pieces(self, bulk: Bulk, start: int = 0, end: int | None = None, size: int = PIECE) -> Iterator[np.ndarray]:
        """Items `[start, end)` of what was laid aside, at most `size` at once."""
        kind = np.dtype(bulk.dtype)
        last = bulk.count if end is None else min(end, bulk.count)
        for first in range(start, last, size):
            self._bulk.seek(bulk.at + first * kind.itemsize)
            yield np.frombuffer(self._bulk.read((min(first + size, last) - first) * kind.itemsize), kind)


@contextmanager
def _room(folder: Path) -> Iterator[None]:
    """What the system says of a disk that takes no more, in our words."""
    try:
        yield
    except OSError as error:
        raise LongseqError(
            f"cannot be written: {error.strerror or error}",
            where=str(folder),
            remedy="make room, or name a folder with room in --out",
        ) from None
