"""Folders among the inputs: the files in them, and data sets that the `datasets` library saved."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from glob import glob
from itertools import islice
from pathlib import Path

from longseq.errors import InputError, meant
from longseq.formats.jsonfile import parsed

_STATE, _SPLITS = "state.json", "dataset_dict.json"
BESIDE = 2000
"""Files of a folder at most among which one that may have been meant is looked for."""


def files(inputs: Iterable[str]) -> tuple[str, ...]:
    """The inputs, with each folder in the place of which stand its files and those of its folders, by name.

    A name with `*`, `?` or `[` of which there is no file is a pattern, `**` any number of folders.
    Hidden files and folders are left out, and so are pipes, sockets and devices, which may never end. A folder that
    `Dataset.save_to_disk` wrote stands for itself, as one input; of one that `DatasetDict.save_to_disk` wrote there is
    one for each split. An order of its own, whatever the file system's, keeps results the same.

    Raises:
        InputError: a folder that holds no file or cannot be read.
    """
    found: list[str] = []
    for name in inputs:
        if any(mark in name for mark in "*?[") and not os.path.lexists(name):
            if not (matches := sorted(glob(name, recursive=True))):
                raise InputError(where=name, expected="a pattern that files match", found="none that does")
            found += [match for match in matches if not os.path.isdir(match) and not _endless(match)]
            continue
        if name == "-" or not Path(name).is_dir() or shards(name):
            found.append(name)
            continue
        inside = _walk(name)
        if not inside:
            raise InputError(where=name, expected="a folder of files", found="none in it")
        found += inside
    return tuple(found)


def shards(folder: str | Path) -> tuple[str, ...]:
    """The Arrow files of a folder that `Dataset.save_to_disk` wrote, in order of their rows; of anything else none.

    Raises:
        InputError: a data set that is only a choice of the rows in its files, or one without a file of its own.
    """
    try:
        state = parsed((Path(folder) / _STATE).read_bytes())
        names = [file["filename"] for file in state["_data_files"]]
        paths = tuple(os.path.join(folder, name) for name in names)
        chosen = state.get("_indices_data_files")
    except (OSError, ValueError, KeyError, TypeError):  # no such file, or another program's
        return ()
    if chosen:
        raise InputError(
            where=str(folder),
            expected="a data set with its rows in order",
            found="a choice of rows",
            remedy="save it again: load_from_disk(…).flatten_indices().save_to_disk(…)",
        )
    for name, path in zip(names, paths, strict=True):
        if not os.path.isfile(path):
            raise InputError(
                where=str(folder),
                expected=f"every file that its {_STATE} names",
                found=f"none of the name {name[:100]!r}",
                remedy="copy the data set again",
            )
    return paths


def meant_file(source: str, also: Iterable[str] = ()) -> str | None:
    """`did you mean genome.fa?`, of a file that is not there: one beside it, or one of `also`, is spelled alike. For
    whoever speaks to people: what results hold of an error must not depend on the files beside."""
    folder, name = os.path.split(source)
    try:
        with os.scandir(folder or ".") as beside:
            names = sorted(one.name for one in islice(beside, BESIDE))
    except (OSError, ValueError):
        names = []
    return meant(name, [*names, *also])


def _walk(folder: str) -> list[str]:
    def fail(error: OSError) -> None:
        raise InputError(error.strerror or "cannot be read", where=str(error.filename))

    found = []
    for path, folders, names in os.walk(folder, onerror=fail):
        if shards(path):
            found.append(path)
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = [os.path.join(path, name) for name in names if not name.startswith(".") and name != _SPLITS]
        found += [name for name in inside if not _endless(name)]
    return sorted(found)


def _endless(name: str) -> bool:
    """Whether this is neither a file nor a link that leads nowhere, of which its reader says so."""
    try:
        return not stat.S_ISREG(os.stat(name).st_mode)
    except OSError:
        return False
