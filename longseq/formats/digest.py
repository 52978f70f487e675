"""What tells files apart that have the same name and size."""

from __future__ import annotations

import hashlib
import os
import stat
from functools import lru_cache

from longseq.formats.raw import changed

KNOWN = 1 << 16
"""Digests that are kept."""


def file_digest(source: str) -> str | None:
    """sha256 of the bytes of a file as it lies there, packed or not; None of standard input and other pipes."""
    if source == "-" or not os.path.exists(source) or not stat.S_ISREG(os.stat(source).st_mode):
        return None
    with open(source, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def same_digest(source: str) -> str | None:
    """`file_digest`, found once for as long as the file stays as it is; None where there is no file."""
    try:
        status = os.stat(source)
    except OSError:
        return None
    return _known(source, status.st_ino, status.st_size, status.st_mtime_ns)


def require_digest(source: str, known: str | None) -> None:
    """Raise where a file that has just been opened is not the one of which this digest was taken.

    Raises:
        InputError: it changed in between.
    """
    if known is not None and same_digest(source) not in (None, known):
        raise changed(source)


@lru_cache(KNOWN)
def _known(source: str, *_: int) -> str | None:
    return file_digest(source)
