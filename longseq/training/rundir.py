"""The directory of a run: what lies where, and whether a run may start or go on in it.

run.toml        the configuration, complete
metrics.jsonl   one line a step
curve.png       the same, drawn at the end of the run
trackers/       what trackers keep here, where there are any
data/           the bases, as ids, by digest of the inputs
checkpoints/    step-N, `latest`, which names the last, and `best`, which names that of the best evaluation
model/          the trained model, once the run is over
longseq.lock    held by the process that writes here
nonfinite.json  the windows of a step whose loss or gradient was no number
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longseq.errors import OutputExistsError, UsageError
from longseq.formats.atomic import is_aside, remove_asides
from longseq.formats.lock import hold, sign

LOCK = "longseq.lock"


class RunDirectory:
    """Left, it is free for others again."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.config = self.path / "run.toml"
        self.metrics = self.path / "metrics.jsonl"
        self.curve = self.path / "curve.png"
        self.trackers = self.path / "trackers"
        self.data = self.path / "data"
        self.checkpoints = self.path / "checkpoints"
        self.model = self.path / "model"
        self.nonfinite = self.path / "nonfinite.json"
        self._lock: int | None = None
        self._found: set[str] = set()
        """Bases that lay there when the directory was taken."""
        with self._said():
            self._absent = [p for p in (self.data, self.path, *self.path.parents) if not p.exists()]

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def check(self, *, resume: bool, force: bool) -> None:
        """Raise unless a run may be here: nothing yet, or a run and `resume` (go on) or `force` (start anew).

        Raises:
            OutputExistsError: there is something, and neither was asked for, or it is no run.
            UsageError: the directory cannot be looked into.
        """
        if self.path.exists() and not self.path.is_dir():
            raise OutputExistsError("is a file", where=str(self.path), remedy="name a directory")
        with self._said():
            entries = {p.name for p in self.path.iterdir()} if self.path.exists() else set()
        if {name for name in entries if not is_aside(name)} <= {self.data.name, LOCK}:
            return  # at most a run that was killed before it had written what it is
        if self.config.name not in entries:
            raise OutputExistsError(
                "holds something else than a training run", where=str(self.path), remedy="name another directory"
            )
        if not (resume or force):
            raise OutputExistsError(
                "holds a run already", where=str(self.path), remedy="--resume goes on with it, --force starts it anew"
            )

    def take(self) -> None:
        """Make the directory, and those above it that are missing, and let no other run write there.

        Raises:
            UsageError: it cannot be made.
            OutputExistsError: another run is writing there.
        """
        while self._lock is None:
            with self._said():
                self.path.mkdir(parents=True, exist_ok=True)
                lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                hold(lock, self.path)
                if os.fstat(lock).st_nlink:  # else the run before has ended and removed it meanwhile
                    sign(lock)
                    self._lock = lock
            finally:
                if self._lock is None:
                    os.close(lock)
        with self._said():
            for folder in (self.path, self.data, self.checkpoints):
                remove_asides(folder)
            self._found = {p.name for p in self.data.iterdir()} if self.data.is_dir() else set()

    def release(self) -> None:
        """Let others write there."""
        if self._lock is not None:
            (self.path / LOCK).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def clear(self) -> None:
        """Remove what an earlier run left here; its bases stay."""
        for directory in (self.checkpoints, self.model, self.trackers):
            shutil.rmtree(directory, ignore_errors=True)
        for file in (self.metrics, self.curve, self.nonfinite, self.config):
            file.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove what a run that could not begin has made."""
        if self._lock is not None and self.data.is_dir():  # else they are those of the run that writes there
            for bases in self.data.iterdir():
                if bases.name not in self._found:
                    shutil.rmtree(bases, ignore_errors=True)
        self.release()
        for directory in self._absent:
            if directory.is_dir() and not any(directory.iterdir()):
                directory.rmdir()

    @contextmanager
    def _said(self) -> Iterator[None]:
        """What the system says of the directory, as an error of the request."""
        try:
            yield
        except OSError as error:
            raise UsageError(
                f"cannot be written: {error.strerror or error}", where=str(self.path), remedy="give another name"
            ) from None
