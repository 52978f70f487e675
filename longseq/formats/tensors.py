"""The JSON in front of a safetensors file: eight bytes of its length, then a tensor's type, shape and place by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from longseq.formats.jsonfile import from_json

LONGEST = 1 << 24
"""Bytes of that JSON: a hundred thousand tensors. What reads it takes memory for what it says before it looks."""
METADATA = "__metadata__"


def head_size(path: str | Path) -> int | None:
    """Bytes of the JSON; None of a file that does not begin as these do.

    Raises:
        OSError: it cannot be read.
        ValueError: more than `LONGEST`.
    """
    with open(path, "rb") as file:
        size, begins = int.from_bytes(file.read(8), "little"), file.read(1) == b"{"
    if not begins or not 2 <= size <= os.stat(path).st_size - 8:
        return None
    if size > LONGEST:
        raise ValueError(f"a header of {size:,} bytes, of {LONGEST:,} at most")
    return size


def read_head(path: str | Path) -> tuple[dict[str, dict[str, Any]], dict[str, Any]] | None:
    """Tensors by name, each with `dtype` and `shape`, and metadata; None of a file that is none of these, or damaged.

    Raises:
        OSError: it cannot be read.
        ValueError: as of `head_size`.
    """
    size = head_size(path)
    if size is None:
        return None
    with open(path, "rb") as file:
        file.seek(8)
        try:
            found = from_json(file.read(size).decode())
        except ValueError:
            return None
    metadata = found.pop(METADATA, None) or {}
    if not isinstance(metadata, dict) or not all(map(_is_tensor, found.values())):
        return None
    return found, metadata


def _is_tensor(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("dtype"), str) or not isinstance(one.get("shape"), list):
        return False
    return len(one["shape"]) <= 64 and all(type(n) is int and 0 <= n < 1 << 63 for n in one["shape"])
