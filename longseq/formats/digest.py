"""What tells files apart that have the same name and size."""

from __future__ import annotations

import hashlib
import os
import stat
from functools import lru_cache


def file_digest(source: str) -> str | None:
    """sha256 of the bytes of a file as it lies there, packed or not; None of standard input and other pipes."""
    if source == "-" or not os.path.exists(source) or not stat.S_ISREG(os.stat(source).st_mode):
        return None
    with open(source, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def same_digest(source: str) -> str | None:
    """`file_digest`, found once for many records of a file that stays as it is."""
    try:
        status = os.stat(source)
    except OSError:
        return None
    return _known(source, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1)
def _known(source: str, *_: int) -> str | None:
    return file_digest(source)
