"""What tells files apart that have the same name and size."""

from __future__ import annotations

import hashlib
import os
import stat


def file_digest(source: str) -> str | None:
    """sha256 of the bytes of a file as it lies there, packed or not; None of standard input and other pipes."""
    if source == "-" or not os.path.exists(source) or not stat.S_ISREG(os.stat(source).st_mode):
        return None
    with open(source, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
