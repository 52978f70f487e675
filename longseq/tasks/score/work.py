"""The working folder of a run, beside its output: what a killed run goes on from.

longseq.lock  the process that writes here, and holds a lock on it
run.json      the settings of the run
rows.jsonl    a line a strand
bits.f32      the bits of every token, where a track was asked for
run.state     the last snapshot; what the two files hold behind it does not count
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from longseq.errors import LongseqError, StateError
from longseq.formats.jsonfile import write_json
from longseq.tasks.working import ANEW, SETTINGS, Folder, beside, read_settings

if TYPE_CHECKING:
    from longseq.streaming import Snapshot

ROOM = (
    "make room, or raise the limit of a file's size (ulimit -f); where there is a snapshot, --resume goes on from there"
)


class Work:
    """Rows and tracks, appended; nothing that was appended is changed."""

    def __init__(self, folder: Path, *, temporary: bool = False):
        self.folder = folder
        self._place = None if temporary else Folder(folder)
        self._files: dict[str, BinaryIO] = {}
        self._lengths: dict[str, int] = {}
        """Bytes of each spool, as this run knows them."""
        self.state = folder / "run.state"
        self._settings = folder / SETTINGS
        self.spools = {"rows": folder / "rows.jsonl", "track": folder / "bits.f32"}

    @classmethod
    def beside(cls, out: Path) -> Work:
        """That of an output directory."""
        return cls(beside(out))

    @classmethod
    def temporary(cls, folder: Path | None = None) -> Work:
        """One of which nothing is resumed, in `folder`, or where TMPDIR points."""
        prefix = "longseq-" if folder is None else ".longseq-"
        return cls(Path(tempfile.mkdtemp(prefix=prefix, dir=folder)), temporary=True)

    def begin(self, settings: dict[str, Any], *, resume: bool, force: bool) -> bool:
        """Make the folder, or take it up; true where there is a snapshot to go on from.

        Raises:
            OutputExistsError: another run is writing there, or one that was stopped lies there and neither `resume`
                nor `force` is set.
            UsageError: what stands there is not ours.
            StateError: it was begun with other settings, or cannot be read.
        """
        if self._place is not None and self._place.begin(self.state, settings, resume=resume, force=force):
            return True
        with said(self._settings):
            write_json(self._settings, settings, given=False)
        self.open({"rows": 0, "track": 0})
        return False

    def settings(self) -> dict[str, Any]:
        """Those that the run was begun with."""
        return read_settings(self._settings)

    def open(self, lengths: dict[str, int]) -> None:
        """Take up the spools at these lengths in bytes; what lies behind is cut off.

        Raises:
            StateError: a spool is shorter than that.
        """
        self._lengths = dict(lengths)
        for name, path in self.spools.items():
            file = self._files[name] = open(path, "ab")  # noqa: SIM115 - closed by close()
            if file.tell() < lengths[name]:
                found = str(file.tell())
                raise StateError(where=str(path), expected=f"{lengths[name]} bytes", found=found, remedy=ANEW)
            file.truncate(lengths[name])
            file.seek(lengths[name])

    def row(self, row: dict[str, Any]) -> None:
        self._append("rows", json.dumps(row).encode() + b"\n")

    def track(self, bits: np.ndarray) -> None:
        """(T,) float32."""
        self._append("track", bits.astype("<f4").tobytes())

    def _append(self, name: str, data: bytes) -> None:
        with said(self.spools[name]):
            self._files[name].write(data)
        self._lengths[name] += len(data)

    @property
    def tracked(self) -> int:
        """Values in the track so far."""
        return self._lengths["track"] // 4

    def save(self, snapshot: Snapshot) -> None:
        """A snapshot of this moment: the spools first, so that it never speaks of what is not there."""
        for name, file in self._files.items():
            with said(self.spools[name]):
                file.flush()
                os.fsync(file.fileno())
        from longseq.streaming import save_snapshot

        with said(self.state):
            save_snapshot(self.state, replace(snapshot, spools=dict(self._lengths)), force=True)

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows so far, in order."""
        self._whole("rows")
        with open(self.spools["rows"], encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)

    def require_track(self) -> int:
        """Values of all rows, which lie in the track one behind the other; those of failed strands stand between.

        Raises:
            StateError: the spool does not hold what the rows say.
        """
        self._whole("track")
        return self._rows_fit()

    def _whole(self, name: str) -> None:
        """Raise unless a spool is on disk as long as what this run wrote to it."""
        path = self.spools[name]
        with said(path):
            self._files[name].flush()
        found = path.stat().st_size
        if found != self._lengths[name]:
            raise StateError(
                where=str(path),
                expected=f"the {self._lengths[name]} bytes that were written",
                found=f"{found}; something else writes here",
                remedy=ANEW,
            )

    def _rows_fit(self) -> int:
        total = end = 0
        for row in self.rows():
            if row["offset"] < end or row["offset"] + row["length"] > self.tracked:
                raise StateError(
                    where=str(self.spools["track"]),
                    expected=f"values of {row['record']} from {end} on, up to {self.tracked}",
                    found=f"{row['length']} from {row['offset']} on",
                    remedy=ANEW,
                )
            end = row["offset"] + row["length"]
            total += row["length"]
        return total

    def close(self) -> None:
        for file in self._files.values():
            with suppress(OSError):  # what could not be written was said before
                file.close()
        self._files = {}

    def release(self) -> None:
        """Leave the folder to a later run."""
        self.close()
        if self._place is not None:
            self._place.release()

    def remove(self) -> None:
        """Remove the folder, if this run had taken it."""
        self.close()
        if self._place is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            self._place.remove()


@contextmanager
def said(path: Path) -> Iterator[None]:
    """What the system says of a file that takes no more, in our words."""
    try:
        yield
    except OSError as error:
        raise LongseqError(
            f"cannot be written: {error.strerror or error}", where=str(error.filename or path), remedy=ROOM
        ) from None
