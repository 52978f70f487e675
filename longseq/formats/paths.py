"""Names of files as file systems and libraries take them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from longseq.errors import UsageError

LONGEST_NAME = 255
"""Bytes of a name that file systems take."""
LONGEST_SUFFIX = 16
"""Letters; what follows the last point of a long name is none."""


def hidden(target: Path, mark: str) -> Path:
    """The hidden path beside `target` that is called as it is and ends in `mark`; of a long name there is the
    beginning, and a digest that keeps it apart."""
    return target.with_name(_hidden(target.name, mark))


def hidden_alike(target: Path, mark: str) -> Path:
    """The same, with `target`'s suffix, by which a writer may tell a format."""
    suffix = target.suffix if len(target.suffix) <= LONGEST_SUFFIX else ""
    return target.with_name(_hidden(target.name.removesuffix(suffix), mark + suffix))


def _hidden(name: str, mark: str) -> str:
    room, whole = LONGEST_NAME - len(os.fsencode(f".{mark}")), os.fsencode(name)
    if len(whole) > room:
        digest = sha256(whole).hexdigest()[:8]
        name = f"{whole[: room - len(digest) - 1].decode(errors='ignore')}~{digest}"
    return f".{name}{mark}"


@contextmanager
def unicode_path(path: str | Path) -> Iterator[str]:
    """A path of the same file that a library in another language takes: itself, or where it is not valid Unicode a link
    in a temporary folder."""
    if spelled(str(path)) == str(path):
        yield str(path)
        return
    with tempfile.TemporaryDirectory(prefix="longseq-") as folder:
        link = os.path.join(folder, "link")
        os.symlink(os.path.abspath(path), link)
        yield link


def require_text(path: str) -> None:
    """Raise unless a text file, a table and a library in another language can hold the path.

    Raises:
        UsageError: it is not valid Unicode.
    """
    if spelled(path) != path:
        raise UsageError(
            where=spelled(path),
            expected="a path that is valid Unicode",
            found="other bytes",
            remedy="rename it, or name a link",
        )


def spelled(text: str) -> str:
    """The text as UTF-8 can hold it: bytes that are none, as a file's name may have, are escapes, `\\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode()
