"""The working folder of a run, beside its output: what a killed run goes on from.

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
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from longseq.errors import OutputExistsError, StateError
from longseq.formats.jsonfile import write_json
from longseq.streaming import Snapshot, save_snapshot

BLOCK = 1 << 20
"""Values copied at once."""


class Work:
    """Rows and tracks, appended; nothing that was appended is changed."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.state = folder / "run.state"
        self._settings = folder / "run.json"
        self.spools = {"rows": folder / "rows.jsonl", "track": folder / "bits.f32"}

    @classmethod
    def beside(cls, out: Path) -> Work:
        """That of an output directory."""
        return cls(out.with_name(f".{out.name}.partial"))

    @classmethod
    def temporary(cls) -> Work:
        """One of which nothing is resumed."""
        return cls(Path(tempfile.mkdtemp(prefix="longseq-")))

    def begin(self, settings: dict[str, Any], *, resume: bool, force: bool) -> bool:
        """Make the folder, or take it up; true where there is a snapshot to go on from.

        Raises:
            OutputExistsError: a run that was stopped lies there, and neither `resume` nor `force` is set.
            StateError: it was begun with other settings.
        """
        if self.state.exists() and not (resume or force):
            raise OutputExistsError(
                "holds a run that was stopped",
                where=str(self.folder),
                remedy="--resume goes on with it, --force starts it anew",
            )
        if resume and self.state.exists():
            self._same(settings)
            return True
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        write_json(self._settings, settings)
        self.open({"rows": 0, "track": 0})
        return False

    def settings(self) -> dict[str, Any]:
        """Those that the run was begun with."""
        return json.loads(self._settings.read_text(encoding="utf-8"))

    def _same(self, settings: dict[str, Any]) -> None:
        then = self.settings()
        for name, now in json.loads(json.dumps(settings)).items():
            if name != "command" and then.get(name) != now:
                raise StateError(
                    where=str(self.folder),
                    expected=f"{name} {then.get(name)!r}, with which the run began",
                    found=repr(now),
                    remedy="a resumed run keeps it; --force starts anew",
                )

    def open(self, lengths: dict[str, int]) -> None:
        """Take up the spools at these lengths in bytes; what lies behind is cut off.

        Raises:
            StateError: a spool is shorter than that.
        """
        self._files = {}
        for name, path in self.spools.items():
            file = self._files[name] = open(path, "ab")  # noqa: SIM115 - closed by close()
            if file.tell() < lengths[name]:
                raise StateError(where=str(path), expected=f"{lengths[name]} bytes", found=str(file.tell()))
            file.truncate(lengths[name])
            file.seek(lengths[name])

    def row(self, row: dict[str, Any]) -> None:
        self._files["rows"].write(json.dumps(row).encode() + b"\n")

    def track(self, bits: np.ndarray) -> None:
        """(T,) float32."""
        self._files["track"].write(bits.astype("<f4").tobytes())

    @property
    def tracked(self) -> int:
        """Values in the track so far."""
        return self._files["track"].tell() // 4

    def save(self, snapshot: Snapshot) -> None:
        """A snapshot of this moment: the spools first, so that it never speaks of what is not there."""
        lengths = {}
        for name, file in self._files.items():
            file.flush()
            os.fsync(file.fileno())
            lengths[name] = file.tell()
        save_snapshot(self.state, replace(snapshot, spools=lengths), force=True)

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows so far, in order."""
        self._files["rows"].flush()
        with open(self.spools["rows"], encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)

    def write_track(self, path: Path) -> None:
        """The bits of each row's tokens, at their places in the record, in the order of the rows: (N,) float32, npy."""
        self._files["track"].flush()
        total = sum(row["length"] for row in self.rows())
        with open(path, "wb") as out, open(self.spools["track"], "rb") as spool:
            np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": (total,)})
            for row in self.rows():
                starts = range(0, row["length"], BLOCK)
                for start in starts if row["strand"] == "+" else reversed(starts):
                    spool.seek(4 * (row["offset"] + start))
                    bits = np.frombuffer(spool.read(4 * min(BLOCK, row["length"] - start)), "<f4")
                    out.write((bits if row["strand"] == "+" else bits[::-1]).tobytes())

    def close(self) -> None:
        for file in getattr(self, "_files", {}).values():
            file.close()

    def remove(self) -> None:
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
