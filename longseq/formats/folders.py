"""Folders among the inputs: the files in them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from longseq.errors import InputError


def files(inputs: Iterable[str]) -> tuple[str, ...]:
    """The inputs, with each folder in the place of which stand its files and those of its folders, by name.

    Hidden files and folders are left out. An order of its own, whatever the file system's, keeps results the same.

    Raises:
        InputError: a folder that holds no file or cannot be read.
    """
    found: list[str] = []
    for name in inputs:
        if name == "-" or not Path(name).is_dir():
            found.append(name)
            continue
        inside = _walk(name)
        if not inside:
            raise InputError(where=name, expected="a folder of files", found="none in it")
        found += inside
    return tuple(found)


def _walk(folder: str) -> list[str]:
    def fail(error: OSError) -> None:
        raise InputError(error.strerror or "cannot be read", where=str(error.filename))

    found = []
    for path, folders, names in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(path, name) for name in names if not name.startswith(".")]
    return sorted(found)
