"""Bytes of a file or of standard input, decompressed on the way: plain, gzip, BGZF, bzip2, xz, zstd.

The container is decided by the first bytes, never by the name. A container that ends too early is no exception: what
could be decompressed is handed out and `ByteStream.truncated` is set once the end is reached.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from longseq.errors import InputError, place
from longseq.formats.raw import DAMAGED, Raw

Container = Literal["plain", "gzip", "bgzf", "bzip2", "xz", "zstd"]

PIECE = 1 << 20
"""Most bytes that one step of decompression hands out."""
PACKED = 1 << 17
"""Compressed bytes taken at a time; small, since each end of a stream copies what is left of them."""
FIRST = 1 << 10
"""Of these so many are given to a new member of gzip, then twice as many each time: there may be millions of members,
of which each copies what it was given too much."""
XZ_MEMORY = 1 << 30
"""Bytes that xz may ask for: `xz -9` asks for 64 MiB."""

FREE, EXPANSION = 1 << 25, 600
"""Bytes that any container may unpack to, and how many times its own size past that. Genomes that are nearly alike
pack to a 300th, gzip packs nothing below a 1032th; a bomb of zeros packs to a 1000th (gzip) or a 40,000th (bzip2). A
chromosome that begins with 20 Mb of N stays below `FREE` there."""
OF_TEXT, LOOKED = 200, 1 << 28
"""The same of text, which packs to a tenth; and bytes of it, unpacked, that are looked at ahead."""


class BombError(InputError):
    """Data that unpacks to more than it may."""


class ByteStream:
    """Decompressed bytes of one source, read once from front to back."""

    def __init__(self, raw: Raw):
        self._raw = raw
        self.source = raw.source
        """As the user named it; `-` is standard input."""
        self.truncated = False
        """The container ended too early; final once `read` has returned nothing."""
        start = raw.peek(_LONGEST_MAGIC)
        if not start:
            raise InputError("is empty", where=place(raw.source), remedy="give a file that holds data")
        self.container: Container = _container(start)
        self._steps = _UNPACK[self.container](raw)
        self._unpacked, self._expansion = 0, EXPANSION
        self._held = memoryview(b"")

    @property
    def position(self) -> int:
        """Bytes taken from the source so far, still compressed."""
        return self._raw.position

    @property
    def size(self) -> int | None:
        """Bytes in the source, still compressed; None for a pipe."""
        return self._raw.size

    def read(self, size: int = PIECE) -> bytes:
        """Between 1 and `size` bytes, or nothing at the end.

        Raises:
            InputError: the compressed data is damaged or a bomb; the system cannot read it; or the file has changed,
                which is known at its end.
        """
        if not self._held:
            piece = self._step()
            if len(piece) <= size:
                return piece
            self._held = memoryview(piece)
        piece, self._held = bytes(self._held[:size]), self._held[size:]
        return piece

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end; `read` will give them again."""
        parts = [bytes(self._held)]
        while sum(map(len, parts)) < size and (piece := self._step()):
            parts.append(piece)
        held = b"".join(parts)
        self._held = memoryview(held)
        return held[:size]

    def _step(self) -> bytes:
        try:
            piece = next(self._steps, b"")
        except _CutError:
            self.truncated = True
            return b""
        except (InputError, MemoryError):
            raise
        except Exception as error:
            self._raw.require_same()
            # zlib.error, LZMAError, ZstdError and bz2's OSError have no common base short of Exception.
            raise InputError(
                f"{self.container} data is damaged before byte {self._raw.position} ({error})",
                where=place(self.source),
                remedy=DAMAGED,
            ) from error
        self._unpacked += len(piece)
        if piece and self._unpacked > max(FREE, self._expansion * self._raw.position):
            self._steps = iter(())  # whoever goes on finds the end
            raise BombError(
                where=place(self.source),
                expected=f"{self.container} data that unpacks to at most {self._expansion} times its size",
                found=f"{self._unpacked:,} bytes from {self._raw.position:,}, perhaps a bomb",
                remedy="unpack it first if it is sound",
            )
        return piece

    def require_text(self) -> None:
        """Hold it to what text packs to. Of a file so much is looked at ahead that whoever reads at the speed of
        documents is told of a bomb at once, not after minutes of it.

        Raises:
            BombError: it is one.
        """
        self._expansion = OF_TEXT
        if self.container == "plain" or self.size is None:
            return
        with open_bytes(self.source) as ahead:
            ahead._expansion = OF_TEXT
            try:
                while ahead._unpacked < LOOKED and ahead.read():
                    pass
            except BombError:
                raise
            except InputError:
                pass  # said by who reads so far

    def close(self) -> None:
        self._raw.close()

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_bytes(source: str | Path) -> ByteStream:
    """Open a file, a pipe or standard input (`-`) and see through its compression.

    Raises:
        InputError: missing, unreadable, a directory, or empty.
    """
    return ByteStream(Raw(str(source)))


class _CutError(Exception):
    """The container ended inside itself."""


def _container(start: bytes) -> Container:
    if start.startswith(b"\x1f\x8b"):
        return "bgzf" if _is_bgzf(start) else "gzip"
    if start.startswith(b"BZh") and start[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if start.startswith(b"\xfd7zXZ\0"):
        return "xz"
    if start.startswith(b"\x28\xb5\x2f\xfd") or (start[1:4] == b"\x2a\x4d\x18" and start[0] >> 4 == 5):
        return "zstd"
    return "plain"


_LONGEST_MAGIC = 18
"""A BGZF header; the others are shorter."""


def _is_bgzf(header: bytes) -> bool:
    """An extra field BC in a gzip header (SAM specification, section 4.1)."""
    return len(header) >= 18 and bool(header[3] & 4) and header[12:16] == b"BC\x02\0"


def _plain(raw: Raw) -> Iterator[bytes]:
    while piece := raw.read(PIECE):
        yield piece


def _gunzip(raw: Raw) -> Iterator[bytes]:
    data, open_ended = memoryview(b""), False
    while True:
        data = _past_zeros(data)
        while len(data) < _LONGEST_MAGIC and (more := raw.read(PACKED)):
            data = _past_zeros(memoryview(bytes(data) + more))
        if not data:
            break
        start = bytes(data[:_LONGEST_MAGIC])
        if not start.startswith(b"\x1f\x8b"[: len(start)]):
            raise ValueError("what follows the last member is not gzip")
        blocked, produced, size = _is_bgzf(start), 0, FIRST
        member = zlib.decompressobj(31)
        while not member.eof:
            some = data[:size]
            size = min(2 * size, PACKED)
            piece = member.decompress(some, PIECE)
            if not piece and not some and not member.eof:
                raise _CutError
            produced += len(piece)
            data = data[len(some) - len(member.unconsumed_tail or member.unused_data) :]
            if piece:
                yield piece
            if not data and not member.eof:
                data = memoryview(raw.read(PACKED))
        open_ended = blocked and produced > 0
    if open_ended:  # BGZF ends with an empty member, or something is missing
        raise _CutError


def _past_zeros(data: memoryview) -> memoryview:
    """Zeros between members are padding."""
    while data and data[0] == 0:
        some = bytes(data[:FIRST])
        data = data[len(some) - len(some.lstrip(b"\0")) :]
    return data


def _streams(raw: Raw, new: Callable[[], Any], magic: bytes) -> Iterator[bytes]:
    """bzip2 and xz: streams one behind the other, xz with zeros between them."""
    data = raw.read(PACKED)
    while data:
        if not data.startswith(magic[: len(data)]):
            raise ValueError("what follows the last stream is not of the same kind")
        stream = new()
        while not stream.eof:
            if stream.needs_input and not data and not (data := raw.read(PACKED)):
                raise _CutError
            piece = stream.decompress(data, PIECE)
            data = b""
            if piece:
                yield piece
        data = stream.unused_data.lstrip(b"\0")
        while len(data) < len(magic) and (more := raw.read(PACKED)):
            data = (data + more).lstrip(b"\0")


def _zstd(raw: Raw) -> Iterator[bytes]:
    from longseq.formats.zstd import FrameWalk, decompress

    walk = FrameWalk()

    def read(size: int) -> bytes:
        piece = raw.read(size)
        walk.feed(piece)
        return piece

    yield from decompress(read, packed=PACKED, piece=PIECE)
    if not walk.between_frames:
        raise _CutError


_UNPACK: dict[str, Callable[[Raw], Iterator[bytes]]] = {
    "plain": _plain,
    "gzip": _gunzip,
    "bgzf": _gunzip,
    "bzip2": lambda raw: _streams(raw, bz2.BZ2Decompressor, b"BZh"),
    "xz": lambda raw: _streams(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY), b"\xfd7zXZ\0"),
    "zstd": _zstd,
}
