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
from pathlib import Path

from longseq.errors import UsageError
from longseq.formats.lock import hold, sign

RUN_SCHEMA = "longseq.score.run/1"
LOCK = "longseq.lock"
NAMES = ("run.json", "rows.jsonl", "bits.f32", "run.state")
_ASIDE = re.compile(r"\.run\.[0-9a-f]{8}\.(json|state)")
"""run.json or run.state of a run that was killed while it wrote them."""


class Folder:
    """One run's, from `take` to `release` or `remove`."""

    def __init__(self, path: Path):
        self.path = path
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

    def clear(self) -> None:
        """Remove what a run left; the folder and its lock stay."""
        for entry in self._entries():
            if entry.name != LOCK and _known(entry.name):
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
            found = "a symbolic link" if stat.S_ISLNK(kind) else "a file"
            raise UsageError(where=where, expected="a working folder of score, or nothing", found=found, remedy=remedy)
        entries = self._entries()
        names = {entry.name for entry in entries}
        for entry in entries:
            if not (_known(entry.name) and entry.is_file(follow_symlinks=False)):
                problem = f"holds {entry.name!r}, which no run of score wrote there"
                raise UsageError(problem, where=where, remedy=remedy)
        if names and LOCK not in names and not self._ours_by_settings():
            raise UsageError("is not a working folder of score", where=where, remedy=remedy)

    def _ours_by_settings(self) -> bool:
        try:
            settings = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return not self._entries()  # another run removed it meanwhile
        except (OSError, ValueError):
            return False
        return isinstance(settings, dict) and settings.get("schema") == RUN_SCHEMA

    def _stands(self, lock: int) -> bool:
        """Whether the locked file is still the one of that name: the run before may have removed it."""
        try:
            return os.path.samestat(os.fstat(lock), os.stat(self.path / LOCK, follow_symlinks=False))
        except FileNotFoundError:
            return False


def _known(name: str) -> bool:
    return name == LOCK or name in NAMES or _ASIDE.fullmatch(name) is not None
