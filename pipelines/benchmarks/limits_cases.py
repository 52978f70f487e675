"""One hostile file and the command that meets it."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MIB, GIB = 1 << 20, 1 << 30
REFERENCE = "reference"
"""In a command: a FASTA of one short record, for commands that want one beside the file."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """`make` writes the file, or folder, at a path; the path stands in `command` in the place of `{}`."""

    group: str
    what: str
    file: str
    """Name of the file; a suffix may decide how it is read."""
    make: Callable[[Path], object]
    command: str
    honest: bool = False
    """All of it is data to be read: its time is its size over the reader's speed, and only memory is bounded."""


def cases(
    group: str, what: str, file: str, make: Callable[[Path], object], *commands: str, honest: bool = False
) -> Iterator[Case]:
    """A case for each command."""
    for command in commands:
        yield Case(group=group, what=what, file=file, make=make, command=command, honest=honest)


def repeated(head: bytes, unit: bytes, size: int, tail: bytes = b"") -> Callable[[Path], object]:
    """A file of `unit` over and over, about `size` bytes of it."""

    def write(path: Path) -> None:
        block = unit * max(MIB // len(unit), 1)
        with open(path, "wb") as file:
            file.write(head)
            for _ in range(size // len(block)):
                file.write(block)
            file.write(unit * (size % len(block) // len(unit)) + tail)

    return write


def packed(how: str, head: bytes, unit: bytes, size: int) -> Callable[[Path], object]:
    """The same through a packer, as many members one behind the other, of 64 MiB each: 100 GB takes a moment."""

    def write(path: Path) -> None:
        pack = packers()[how]
        member = pack(unit * (64 * MIB // len(unit)))
        with open(path, "wb") as file:
            file.write(pack(head) if head else b"")
            for _ in range(max(size // (64 * MIB), 1)):
                file.write(member)

    return write


def packers() -> dict[str, Callable[[bytes], bytes]]:
    """By suffix."""
    import zstandard

    return {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}


def of_bytes(data: Callable[[], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data())
