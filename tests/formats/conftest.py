"""Containers and formats, written by other hands than the readers under test."""

import bz2
import gzip
import io
import lzma
import struct
from pathlib import Path

import pytest
import zstandard
from Bio import bgzf

DATA = Path(__file__).parents[2] / "data"


class _Kept(io.BytesIO):
    """Keeps its bytes when a writer closes it."""

    def close(self):
        self.kept = self.getvalue()
        super().close()


def _bgzf(data: bytes) -> bytes:
    file = _Kept()
    with bgzf.BgzfWriter(fileobj=file) as writer:
        writer.write(data)
    return file.kept


_PACKERS = {
    "plain": lambda data: data,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bgzf": _bgzf,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}


@pytest.fixture(scope="session")
def pack():
    """`pack(container, data)` is data in that container."""
    return lambda container, data: _PACKERS[container](data)


@pytest.fixture(scope="session")
def to_twobit():
    """`to_twobit([(name, letters), …])` is a 2bit file; lower case and N go into their tables."""
    return write_twobit


def write_twobit(records: list[tuple[str, bytes]], order: str = "<", version: int = 0) -> bytes:
    wide = "Q" if version else "I"
    head = struct.pack(order + "4I", 0x1A412743, version, len(records), 0)
    at = len(head) + sum(1 + len(name) + struct.calcsize("=" + wide) for name, _ in records)
    bodies = []
    for name, letters in records:
        head += struct.pack("B", len(name)) + name.encode() + struct.pack(order + wide, at)
        bodies.append(_twobit_body(letters, order))
        at += len(bodies[-1])
    return head + b"".join(bodies)


def _twobit_body(letters: bytes, order: str) -> bytes:
    body = struct.pack(order + "I", len(letters))
    for wanted in (lambda c: c in b"Nn", lambda c: c >= 97):
        inside = [bool(wanted(c)) for c in letters]
        starts = [i for i, now in enumerate(inside) if now and not (i and inside[i - 1])]
        sizes = [next((j for j in range(i, len(letters)) if not inside[j]), len(letters)) - i for i in starts]
        body += struct.pack(f"{order}{1 + 2 * len(starts)}I", len(starts), *starts, *sizes)
    codes = ["TCAG".find(chr(c).upper()) for c in letters]
    codes = [max(code, 0) for code in codes] + [0] * (-len(codes) % 4)
    packed = bytes(a << 6 | b << 4 | c << 2 | d for a, b, c, d in zip(*[iter(codes)] * 4, strict=True))
    return body + struct.pack(order + "I", 0) + packed


class _Held:
    """Bytes in memory in the place of a `ByteStream`."""

    def __init__(self, data: bytes):
        self.data, self.at, self.source, self.truncated = data, 0, "held", False

    def read(self, size):
        piece = self.data[self.at : self.at + size]
        self.at += len(piece)
        return piece

    def peek(self, size):
        return self.data[self.at : self.at + size]


@pytest.fixture(scope="session")
def held():
    """`held(data)` is a stream over bytes in memory."""
    return _Held


@pytest.fixture
def walk():
    """`walk(reading)` is a list of (id, all letters) of what is left in it."""
    return lambda reading: [(record.id, _joined(record)) for record in reading]


def _joined(record):
    empty = b"" if record.kind == "dna" else ""
    return empty.join(record.pieces)


@pytest.fixture
def make(tmp_path):
    """`make(name, data)` is the path, as text, of a file with these bytes."""

    def write(name: str, data: bytes) -> str:
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write
