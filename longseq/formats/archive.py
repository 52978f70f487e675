"""Documents packed as zip archives: their parts by name, within bounds."""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from typing import BinaryIO
from urllib.parse import unquote

from longseq.errors import InputError

LARGEST_PART, LARGEST = 1 << 28, 1 << 30
"""Bytes, unpacked, of a part and of all that are read."""
PACKED = 200
"""Times smaller than its bytes that a part over `SMALL` may be packed: text packs to a tenth, bombs to a thousandth."""
SMALL = 1 << 24

_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError, RuntimeError, ValueError)
"""What a damaged archive makes `zipfile` raise."""


class Archive:
    """The parts of a zip archive; nothing is ever written to disk.

    Raises:
        InputError: no archive that can be read.
    """

    def __init__(self, file: BinaryIO, where: str):
        self._where, self._read = where, 0
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
        bomb = part.file_size > SMALL and part.file_size > PACKED * max(part.compress_size, 1)
        if bomb or part.file_size > LARGEST_PART or self._read + part.file_size > LARGEST:
            found = f"{part.file_size:,} bytes packed to {part.compress_size:,}"
            raise InputError(where=self._where, expected=f"a part {name!r} of sound size", found=found)
        self._read += part.file_size
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
