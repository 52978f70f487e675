"""Documents packed as zip archives: their parts by name, within bounds."""

from __future__ import annotations

import os
import posixpath
import struct
import zipfile
import zlib
from typing import BinaryIO
from urllib.parse import unquote

from longseq.errors import InputError

LARGEST_PART, LARGEST = 1 << 25, 1 << 28
"""Bytes, unpacked, of a part, which is held with its tree, and of all that are read."""
PACKED = 200
"""Times smaller than their bytes that parts over `SMALL` in all may be packed: text packs to a tenth, bombs to a
thousandth."""
SMALL = 1 << 24
DIRECTORY = 1 << 22
"""Bytes of the list of parts: of ninety thousand at most, 700 bytes each in memory."""
_END, _END64, _LOCATOR, _COMMENT = 22, 56, 20, 1 << 16
"""Bytes of what ends an archive: two records that say how large the list is, what says where the second one stands,
and a comment at most (APPNOTE.TXT 6.3.10, sections 4.3.14 to 4.3.16)."""

_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError, RuntimeError, ValueError)
"""What a damaged archive makes `zipfile` raise."""


class Archive:
    """The parts of a zip archive; nothing is ever written to disk.

    Raises:
        InputError: no archive that can be read.
    """

    def __init__(self, file: BinaryIO, where: str):
        self._where, self._read, self._packed = where, 0, 0
        if (size := _directory(file)) > DIRECTORY:
            raise InputError(where=where, expected=f"a list of parts of at most {DIRECTORY:,} bytes", found=f"{size:,}")
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise InputError(f"is no whole zip archive ({error})", where=where, remedy="copy it again") from None

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        """A part.

        Raises:
            InputError: missing, damaged, locked by a password, or larger than anything honest.
        """
        part = self._zip.NameToInfo.get(name)
        if part is None:
            raise InputError(where=self._where, expected=f"a part {name!r} in the archive", found="none")
        if part.flag_bits & 1:
            raise InputError(f"part {name!r} is locked by a password", where=self._where)
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            found = f"one packed by method {part.compress_type}"
            raise InputError(where=self._where, expected=f"a part {name!r} packed by deflate", found=found)
        self._read += part.file_size
        self._packed += part.compress_size
        bomb = self._read > SMALL and self._read > PACKED * self._packed
        if bomb or part.file_size > LARGEST_PART or self._read > LARGEST:
            found = f"{part.file_size:,} bytes packed to {part.compress_size:,}"
            remedy = f"a part may have {LARGEST_PART:,} bytes, all of them {LARGEST:,}: split it"
            raise InputError(where=self._where, expected=f"a part {name!r} of sound size", found=found, remedy=remedy)
        try:
            with self._zip.open(part) as file:
                return file.read(part.file_size + 1)
        except _DAMAGE as error:
            raise InputError(f"part {name!r} is damaged ({error})", where=self._where) from None

    def beside(self, part: str, link: str) -> str:
        """Name of the part that `part` links to.

        Raises:
            InputError: a link that leads out of the archive.
        """
        path = unquote(link.split("#")[0])
        name = posixpath.normpath(posixpath.join(posixpath.dirname(part), path))
        if name.startswith(("/", "..")) or "\\" in name or ":" in name.split("/")[0]:
            raise InputError(where=self._where, expected="links inside the archive", found=repr(link))
        return name


def _directory(file: BinaryIO) -> int:
    """Bytes of the list of parts, which `zipfile` reads at once, as the end of the archive says."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _COMMENT - _END - _LOCATOR - _END64, 0))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    told = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    far = at - _LOCATOR - _END64
    if far >= 0 and tail[at - _LOCATOR :].startswith(b"PK\6\7") and tail[far:].startswith(b"PK\6\6"):
        told = int.from_bytes(tail[far + 40 : far + 48], "little")
    return told
