"""The door to zstandard, and a walk over frames that knows whether the last one is whole.

zstandard's reader ends without a word when its input ends inside a frame. The layout (RFC 8878, section 3.1) tells:
a frame is a header, blocks that say their size and whether they are the last, and an optional checksum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_WIDEST_WINDOW = 1 << 31
"""Bytes of history a frame may ask for: all that `zstd --long=31` writes."""


def decompress(read: Callable[[int], bytes], *, packed: int, piece: int) -> Iterator[bytes]:
    """Pieces of at most `piece` bytes; `read` is asked for `packed` compressed bytes at a time."""
    import zstandard

    source: Any = type("Source", (), {"read": staticmethod(read)})
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WIDEST_WINDOW)
    reader = unpacker.stream_reader(source, read_size=packed, read_across_frames=True)
    while data := reader.read1(piece):  # `read` would lose what came before damage
        yield data


class FrameWalk:
    """Follows frames through compressed bytes given in any pieces; it decompresses nothing."""

    def __init__(self):
        self._head, self._skip, self._want = b"", 0, 4
        self._next = self._magic
        self._checksum = False

    @property
    def between_frames(self) -> bool:
        """No frame is open: an end here is a good end."""
        return not self._head and not self._skip and self._next == self._magic

    def feed(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip -= step
                at += step
                continue
            missing = self._want - len(self._head)
            self._head += data[at : at + missing]
            at += missing
            if len(self._head) == self._want:
                head, self._head = self._head, b""
                self._next(head)

    def _magic(self, head: bytes) -> None:
        skippable = head[1:] == b"\x2a\x4d\x18" and head[0] >> 4 == 5
        self._next, self._want = (self._skippable, 4) if skippable else (self._descriptor, 1)

    def _skippable(self, head: bytes) -> None:
        self._skip = int.from_bytes(head, "little")
        self._next, self._want = self._magic, 4

    def _descriptor(self, head: bytes) -> None:
        flags = head[0]
        single = flags >> 5 & 1
        content = (single, 2, 4, 8)[flags >> 6]
        dictionary = (0, 1, 2, 4)[flags & 3]
        self._checksum = bool(flags >> 2 & 1)
        self._skip = (1 - single) + dictionary + content
        self._next, self._want = self._block, 3

    def _block(self, head: bytes) -> None:
        number = int.from_bytes(head, "little")
        last, kind, size = number & 1, number >> 1 & 3, number >> 3
        self._skip = 1 if kind == 1 else size  # a run-length block stores one byte
        if last:
            self._skip += 4 if self._checksum else 0
            self._next, self._want = self._magic, 4
