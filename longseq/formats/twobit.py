"""2bit: two bits a base, N and lower case as tables of runs (UCSC, "twoBit sequence file format").

The format keeps no IUPAC codes but N: whoever wrote the file turned them into N or T, and U into T. It is read from
front to back, so that it can come through a pipe.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.body import moved_on
from longseq.formats.containers import PIECE, ByteStream
from longseq.formats.header import decode
from longseq.formats.letters import OnUnknown
from longseq.records import Record

MOST_RECORDS, MOST_RUNS = 1 << 21, 1 << 23
"""Records of an index and runs of a record, which are held: 150 MB each. Of 4.3 Gb, the longest record there can be,
repeats make seven million runs."""
_FASTA = "convert the file to FASTA: twoBitToFa"
_SIGNATURE = 0x1A412743
_LETTERS = b"TCAG"
_NOTE = {"cannot_carry": "IUPAC codes other than N, and U"}


def records(stream: ByteStream, *, on_unknown: OnUnknown = "error", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """Records in the order of the file's index. One that the file ends in or before is given as `truncated`.

    `on_unknown` has nothing to do here: the format holds no other letters.

    Raises:
        InputError: an index, or tables of runs, that cannot be.
    """
    file = _File(stream)
    entries = _index(file)
    now: list[Record] = []
    for index, (name, offset) in enumerate(entries):
        record = Record(id=name, kind="dna", source=stream.source, index=index, pieces=iter(()), notes=dict(_NOTE))
        now[:] = [record]
        try:
            file.go_to(offset)
            tables = _tables(file, record)
        except _EndError:
            record.truncated, record.length = True, 0
            yield record
            continue
        record.length = tables.length
        record.pieces = _pieces(file, record, tables, read_block, now)
        yield record


class _EndError(Exception):
    """The file ends here, but should not."""


class _File:
    """Numbers from a stream, in the file's byte order."""

    def __init__(self, stream: ByteStream):
        self._stream, self.position = stream, 0
        self._held, self._at = b"", 0
        self.source = stream.source
        self.order = "<"

    def take(self, size: int) -> bytes:
        """The next `size` bytes.

        Raises:
            _EndError: there are fewer.
        """
        data = self.some(size)
        if len(data) < size:
            parts, missing = [data], size - len(data)
            while missing and (piece := self.some(missing)):
                parts.append(piece)
                missing -= len(piece)
            if missing:
                raise _EndError
            data = b"".join(parts)
        return data

    def some(self, size: int) -> bytes:
        """Between 1 and `size` bytes, or nothing at the end."""
        if self._at == len(self._held):
            self._held, self._at = self._stream.read(PIECE), 0
        piece = self._held[self._at : self._at + size]
        self._at += len(piece)
        self.position += len(piece)
        return piece

    def number(self, kind: str = "I") -> int:
        return struct.unpack(self.order + kind, self.take(struct.calcsize("=" + kind)))[0]

    def numbers(self, count: int) -> np.ndarray:
        return np.frombuffer(self.take(4 * count), dtype=f"{self.order}u4").astype(np.uint32, copy=False)

    def go_to(self, offset: int) -> None:
        if offset < self.position:
            raise InputError(
                where=place(self.source),
                expected="records in the order of the index",
                found=f"a step back to byte {offset}",
                remedy=_FASTA,
            )
        while self.position < offset:
            if not self.some(min(offset - self.position, 1 << 20)):
                raise _EndError


class _Tables(NamedTuple):
    """What stands before the packed bases of one record."""

    length: int
    unknown: np.ndarray
    """(2, R) uint32 starts and ends of the runs of N."""
    lower: np.ndarray
    """(2, S) uint32 starts and ends of the runs of lower case."""


def _index(file: _File) -> Iterator[tuple[str, int]]:
    try:
        if int.from_bytes(file.take(4), "little") != _SIGNATURE:
            file.order = ">"
        version, count, _ = file.number(), file.number(), file.number()
        if version not in (0, 1):
            raise InputError(where=place(file.source), expected="2bit version 0 or 1", found=str(version))
        if count > MOST_RECORDS:
            expected = f"at most {MOST_RECORDS:,} records"
            raise InputError(where=place(file.source), expected=expected, found=f"{count:,}", remedy=_FASTA)
        offset = struct.Struct(file.order + ("I" if version == 0 else "Q"))
        names: list[str] = []
        offsets = array("Q")
        for _ in range(count):
            size = file.take(1)[0]
            entry = file.take(size + offset.size)
            names.append(decode(entry[:size]))
            offsets.append(offset.unpack_from(entry, size)[0])
        return zip(names, offsets, strict=True)
    except _EndError:
        raise InputError(
            "is cut inside its index", where=place(file.source), remedy="copy or download the file again"
        ) from None


def _tables(file: _File, record: Record) -> _Tables:
    length = file.number()
    unknown, lower = _runs(file, length, record), _runs(file, length, record)
    file.number()  # reserved
    return _Tables(length, unknown, lower)


def _runs(file: _File, length: int, record: Record) -> np.ndarray:
    count = file.number()
    if count > length:
        raise InputError(where=record.where, expected=f"at most {length} runs", found=str(count))
    if count > MOST_RUNS:
        expected = f"at most {MOST_RUNS:,} runs"
        raise InputError(where=record.where, expected=expected, found=f"{count:,}", remedy=_FASTA)
    starts, sizes = file.numbers(count), file.numbers(count)
    ends = starts.astype(np.int64) + sizes
    if count and ((starts[1:] < ends[:-1]).any() or ends[-1] > length):
        raise InputError(where=record.where, expected=f"runs in order, within {length} bases", found="others")
    return np.stack([starts, ends.astype(np.uint32)])


def _unpacked() -> np.ndarray:
    """(256, 4) uint8: the letters of each byte, the first base in the highest bits."""
    codes = np.arange(256, dtype=np.uint8)[:, None] >> np.array([6, 4, 2, 0], dtype=np.uint8) & 3
    return np.frombuffer(_LETTERS, dtype=np.uint8)[codes]


_UNPACKED = _unpacked()


def _pieces(file: _File, record: Record, tables: _Tables, read_block: int, now: list[Record]) -> Iterator[bytes]:
    at = 0
    while at < tables.length:
        if now[0] is not record:
            raise moved_on(record)
        packed = file.some(min(max(read_block // 4, 1), (tables.length - at + 3) // 4))
        if not packed:
            record.truncated, record.length = True, at
            return
        letters = _UNPACKED[np.frombuffer(packed, dtype=np.uint8)].reshape(-1)[: tables.length - at]
        for start, end in _within(tables.unknown, at, at + len(letters)):
            letters[start:end] = ord("N")
        for start, end in _within(tables.lower, at, at + len(letters)):
            letters[start:end] |= 0x20
        at += len(letters)
        yield letters.tobytes()


def _within(runs: np.ndarray, start: int, end: int) -> np.ndarray:
    """(n, 2) int64: the runs that meet `[start, end)`, cut to it and counted from `start`."""
    starts, ends = runs
    first = np.searchsorted(ends, np.uint32(start), side="right")
    last = np.searchsorted(starts, np.uint32(end), side="left")
    return np.clip(runs[:, first:last].astype(np.int64) - start, 0, end - start).T
