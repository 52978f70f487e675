"""Files written from front to back with a checksum of each block, so that a byte that changed is found as it is read.

CRC-32 of a megabyte misses one accident in four thousand million; whoever forges a shard can forge these as well.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

from longseq.errors import InputError

BLOCK = 1 << 20
"""Bytes."""


class SummedFile:
    """Written anew, from front to back."""

    def __init__(self, path: Path):
        self._file = open(path, "wb")  # noqa: SIM115 - closed by close()
        self._sums: list[int] = []
        self.size = 0
        """Bytes so far."""

    def write(self, data: bytes) -> None:
        self._file.write(data)
        view = memoryview(data)
        while view:
            within = self.size % BLOCK
            part = view[: BLOCK - within]
            if within == 0:
                self._sums.append(0)
            self._sums[-1] = zlib.crc32(part, self._sums[-1])
            self.size += len(part)
            view = view[len(part) :]

    @property
    def sums(self) -> list[int]:
        """One a block."""
        return list(self._sums)

    def close(self) -> None:
        self._file.close()


class CheckedFile:
    """Read wherever one likes; a block is checked as it is fetched.

    Raises:
        InputError: the file is not of `size` bytes; also from `read`, of a block that is not what was written.
    """

    def __init__(self, path: Path, size: int, sums: Sequence[int], remedy: str):
        found = path.stat().st_size if path.is_file() else None
        if found != size:
            said = "none" if found is None else f"{found:,}"
            raise InputError(where=str(path), expected=f"{size:,} bytes", found=said, remedy=remedy)
        self._path, self._sums, self._remedy = path, sums, remedy
        self._file = open(path, "rb")  # noqa: SIM115 - closed by close()
        self._block, self._held, self._at = -1, b"", 0

    def seek(self, at: int) -> None:
        self._at = at

    def read(self, size: int) -> bytes:
        """The next bytes, fewer at the end of the file."""
        parts = []
        while size > 0:
            within = self._at % BLOCK
            part = self._fetched(self._at // BLOCK)[within : within + size]
            if not part:
                break
            parts.append(part)
            self._at += len(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _fetched(self, block: int) -> bytes:
        if block != self._block:
            self._file.seek(block * BLOCK)
            held = self._file.read(BLOCK)
            if held and (block >= len(self._sums) or zlib.crc32(held) != self._sums[block]):
                raise InputError("is not what was written", where=str(self._path), remedy=self._remedy)
            self._block, self._held = block, held
        return self._held

    def close(self) -> None:
        self._file.close()
