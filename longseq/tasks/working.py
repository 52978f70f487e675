"""The working folder as a thing on disk: whose it is, who writes in it, and how it goes.

A folder is ours where it holds nothing but regular files of our names and our lock, or settings of our schema. Only
such a folder is written to or removed. The lock is one of the operating system's: it is gone with the process that
holds it, however that ends.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from longseq.errors import OutputExistsError, StateError, UsageError
from longseq.formats.jsonfile import read_json
from longseq.formats.lock import hold, sign
from longseq.formats.paths import hidden

RUN_SCHEMA = "longseq.score.run/1"
LOCK = "longseq.lock"
SETTINGS = "run.json"
ANEW = "--force starts anew"
_ASIDE = re.compile(r"\.run\.[0-9a-f]{8}\.(json|state)")
"""run.json or run.state of a run that was killed while it wrote them."""


class Owner(NamedTuple):
    """Whose a working folder is."""

    command: str
    schema: str
    """Of its settings."""
    names: tuple[str, ...]
    """Files that it may hold."""


SCORE = Owner("score", RUN_SCHEMA, (SETTINGS, "rows.jsonl", "bits.f32", "run.state"))


class Folder:
    """One run's, from `take` to `release` or `remove`."""

    def __init__(self, path: Path, owner: Owner = SCORE):
        self.path, self._owner = path, owner
        self._lock: int | None = None

    def take(self) -> None:
        """Make the folder, or take over what another run left, and lock it.

        Raises:
            UsageError: what stands there is not ours.
            OutputExistsError: another run is writing there.
        """
        while True:
            self._require_ours()
            try:
                if not self.path.is_dir():
                    self.path.mkdir(mode=0o700, exist_ok=True)
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
                lock = os.open(self.path / LOCK, flags, 0o600)
            except FileNotFoundError:
                if not self.path.parent.is_dir():
                    raise
                continue  # another run ended and removed it meanwhile
            try:
                hold(lock, self.path)
                if not self._stands(lock):
                    os.close(lock)
                    continue
                sign(lock)
            except BaseException:
                os.close(lock)
                raise
            self._lock = lock
            return

    def begin(self, stopped: Path, settings: dict[str, Any], *, resume: bool, force: bool) -> bool:
        """Take the folder; true where a run is gone on with, which left something in the file `stopped`; else it is
        empty.

        Raises:
            OutputExistsError: another run is writing there, or one that was stopped lies there and neither `resume`
                nor `force` is set.
            UsageError: what stands there is not ours.
            StateError: it was begun with other settings, or cannot be read.
        """
        self.take()
        found = stopped.exists() and stopped.stat().st_size > 0
        if found and not (resume or force):
            raise OutputExistsError(
                "holds a run that was stopped",
                where=str(self.path),
                remedy="--resume goes on with it, --force starts it anew",
            )
        if not (found and resume):
            self.clear()
            return False
        for name, then, now in differences(read_settings(self.path / SETTINGS), settings):
            raise StateError(
                where=str(self.path),
                expected=f"{name} {then!r}, with which the run began",
                found=repr(now),
                remedy=f"a resumed run keeps it; {ANEW}",
            )
        return True

    def clear(self) -> None:
        """Remove what a run left; the folder and its lock stay."""
        for entry in self._entries():
            if entry.name != LOCK and self._known(entry.name):
                os.unlink(entry.path)

    def release(self) -> None:
        """Let others write there."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Remove the folder that was taken, the lock last: who waits for it finds an empty place or a whole folder."""
        if self._lock is None:
            return
        self.clear()
        try:
            os.unlink(self.path / LOCK)
            os.rmdir(self.path)
        except OSError:
            pass  # another run began in it as the lock went, or a user's file lies there: not ours any more
        self.release()

    def _entries(self) -> list[os.DirEntry]:
        try:
            with os.scandir(self.path) as found:
                return list(found)
        except FileNotFoundError:
            return []

    def _require_ours(self) -> None:
        where, remedy = str(self.path), "move it away, or give --out another name"
        try:
            kind = self.path.lstat().st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(kind):
            expected = f"a working folder of {self._owner.command}, or nothing"
            found = "a symbolic link" if stat.S_ISLNK(kind) else "a file"
            raise UsageError(where=where, expected=expected, found=found, remedy=remedy)
        entries = self._entries()
        names = {entry.name for entry in entries}
        for entry in entries:
            if not (self._known(entry.name) and entry.is_file(follow_symlinks=False)):
                problem = f"holds {entry.name!r}, which no run of {self._owner.command} wrote there"
                raise UsageError(problem, where=where, remedy=remedy)
        if names and LOCK not in names and not self._ours_by_settings():
            raise UsageError(f"is not a working folder of {self._owner.command}", where=where, remedy=remedy)

    def _ours_by_settings(self) -> bool:
        try:
            settings = read_json(self.path / "run.json")
        except FileNotFoundError:
            return not self._entries()  # another run removed it meanwhile
        except (OSError, ValueError):
            return False
        return isinstance(settings, dict) and settings.get("schema") == self._owner.schema

    def _stands(self, lock: int) -> bool:
        """Whether the locked file is still the one of that name: the run before may have removed it."""
        try:
            return os.path.samestat(os.fstat(lock), os.stat(self.path / LOCK, follow_symlinks=False))
        except FileNotFoundError:
            return False

    def _known(self, name: str) -> bool:
        return name == LOCK or name in self._owner.names or _ASIDE.fullmatch(name) is not None


def beside(out: Path) -> Path:
    """The working folder of an output directory."""
    return hidden(out, ".partial")


def forget(out: str, owner: Owner = SCORE) -> None:
    """Remove what a run left that was killed when its output stood already; not what another run is writing."""
    folder = Folder(beside(Path(os.path.realpath(out))), owner)
    if folder.path.is_dir():
        with suppress(UsageError):
            folder.take()
            folder.remove()


def read_settings(path: Path) -> dict[str, Any]:
    """The settings of a run.

    Raises:
        StateError: there are none, or they are something else.
    """
    try:
        settings = read_json(path)
    except FileNotFoundError:
        found = "no file"
    except (OSError, ValueError) as error:
        found = str(error)
    else:
        if isinstance(settings, dict):
            return settings
        found = f"JSON of another shape ({type(settings).__name__})"
    raise StateError(where=str(path), expected="the settings of the run", found=found, remedy=ANEW)


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Name, earlier and present value of each setting that differs; the command line is none."""
    for name, value in json.loads(json.dumps(now)).items():
        if name != "command" and then.get(name) != value:
            yield name, then.get(name), value


def finished_as(out: str, file: str, settings: Mapping[str, Any], *, within: str | None = None) -> bool:
    """Whether the directory `out` is the result of a run with these settings, which its `file` holds (under the key
    `within`).

    Raises:
        OutputExistsError: it is that of another run, or something else.
    """
    folder = Path(out)
    if not folder.is_dir() or not any(folder.iterdir()):
        return False
    problem, remedy = "exists already", "give another name, or --force to replace it"
    try:
        then: Any = read_settings(folder / file)
    except StateError:
        then = None
    if then is not None and within is not None:
        then = then.get(within)
    if not isinstance(then, dict):
        raise OutputExistsError(problem, where=out, remedy=remedy)
    for name, value, now in differences(then, settings):
        raise OutputExistsError(f"{problem}, made with {name} {value!r} instead of {now!r}", where=out, remedy=remedy)
    return True
