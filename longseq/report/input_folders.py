"""Where in the folder of a run the files lie that speak of one input, and that file of the input which is passing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TextIO

TRACKS = "tracks"
LONGEST = 200
"""Bytes of a folder's name; file systems take 255, and a number may follow."""


class InputFolders:
    """Of one input asked for, files lie in the folder itself and tracks in `tracks/`; of several, readable or not, all
    that is of one lies in `tracks/SAMPLE/`, since names of records mean something within their own input only.

    SAMPLE is the name of the sample with `_` for what is no letter, digit, `.`, `+`, `-` or `_`: `asm01 | contigs` has
    the folder `asm01_contigs`. No two are alike, in whatever case.
    """

    def __init__(self, root: Path, samples: Sequence[str] = ("",)):
        self.root = root
        self._names = [""] if len(samples) == 1 else _distinct([_safe(name) for name in samples])

    def files(self, source: int) -> Path:
        """Of the input at this place."""
        return self.tracks(source) if self._names[source] else self.root

    def tracks(self, source: int) -> Path:
        return self.root / TRACKS / self._names[source]


class InputFile:
    """A text file of one name for each input, made when the first line of an input comes. Inputs come one after the
    other, so one is open at a time. Use it as a context manager."""

    def __init__(self, folders: InputFolders, name: str):
        self._folders, self._name = folders, name
        self._source: int | None = None
        self._file: TextIO | None = None

    def __enter__(self) -> InputFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def of(self, source: int) -> TextIO:
        """That of the input at this place."""
        if self._file is None or source != self._source:
            if self._file is not None:
                self._file.close()
            folder = self._folders.files(source)
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(folder / self._name, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - by __exit__
            self._source = source
        return self._file


def _safe(name: str) -> str:
    plain = re.sub(r"[^\w.+-]+", "_", name)
    plain = plain.rstrip("_")
    plain = re.sub(r"^[.-]|^$", "_", plain)  # no hidden file, no `..`, nothing that looks like an option
    return plain.encode()[:LONGEST].decode(errors="ignore")


def _distinct(names: list[str]) -> list[str]:
    wanted, used, found = {name.casefold() for name in names}, set[str](), list[str]()
    reached: dict[str, int] = {}
    for name in names:
        free, number = name, reached.get(name, 2)
        while free.casefold() in used or (free != name and free.casefold() in wanted):
            free, number = f"{name}_{number}", number + 1
        reached[name] = number
        used.add(free.casefold())
        found.append(free)
    return found
