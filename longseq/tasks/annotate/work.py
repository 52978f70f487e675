"""The working folder of a run of `annotate` beside its output: what a killed run goes on from.

longseq.lock  the process that writes here, and holds a lock on it
run.json      the settings of the run
rows.jsonl    a line for each record that is over, well or not
and spools of what the model said of the records that went well, one behind the other
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from longseq.errors import StateError, StoppedError
from longseq.formats.atomic import free_directory, no_directory
from longseq.formats.jsonfile import parsed, write_json
from longseq.log import count
from longseq.streaming.rows import RowSpool
from longseq.tasks.score.work import said
from longseq.tasks.working import ANEW, SETTINGS, Folder, Owner, beside

if TYPE_CHECKING:
    from longseq.training.signals import StopRequest

SCHEMA = "longseq.annotate.run/1"
ROWS = "rows.jsonl"
SPOOLS = {"probabilities": "probabilities.f32", "letters": "letters.u8", "odds": "odds.f16"}
ANNOTATE = Owner("annotate", SCHEMA, (SETTINGS, ROWS, *SPOOLS.values()))


class Row(NamedTuple):
    """A record that was read to its end."""

    file: str
    name: str
    """Its own."""
    start: int
    """Where what was read of it begins."""
    length: int
    circular: bool
    truncated: bool


class Work:
    """What is known of the records so far; inside `working`."""

    def __init__(self, folder: Path, stop: StopRequest):
        self._folder, self._stop = Folder(folder, ANNOTATE), stop
        self._path = folder / ROWS
        self._file: BinaryIO | None = None
        self._spools: list[RowSpool] = []
        self.rows: list[Row | None] = []
        """Of each record that is over; None of one that could not be read."""

    def begin(self, settings: dict[str, Any], *, resume: bool, force: bool) -> None:
        """Make the folder, or take it up. Raises what `Folder.begin` does."""
        if self._folder.begin(self._path, settings, resume=resume, force=force):
            self._take_up()
        else:
            with said(self._path):
                write_json(self._path.with_name(SETTINGS), settings, given=False)
        with said(self._path):
            self._file = open(self._path, "ab")  # noqa: SIM115 - closed by close()

    def _take_up(self) -> None:
        """The rows of the run before, without half a line that a killed one may leave."""
        whole, newline, _ = self._path.read_bytes().rpartition(b"\n")
        try:
            found = [parsed(line) for line in whole.splitlines()]
            self.rows = [None if row is None else Row(*row) for row in found]
        except (ValueError, TypeError):
            raise StateError(
                where=str(self._path), expected="the records of the run", found="something else", remedy=ANEW
            ) from None
        with open(self._path, "r+b") as file:
            file.truncate(len(whole) + len(newline))

    def spool(self, what: str, width: int, dtype: type) -> RowSpool:
        """One of `SPOOLS`, with what stands in it of the records so far.

        Raises:
            StateError: less than that.
        """
        path = self._path.with_name(SPOOLS[what])
        found = RowSpool(width, dtype, path=path)
        self._spools.append(found)
        if found.rows < self.length:
            expected = f"what the model said of {count(self.length, 'base')}"
            raise StateError(where=str(path), expected=expected, found=f"of {found.rows:,}", remedy=ANEW)
        return found

    @property
    def length(self) -> int:
        """Bases of all records so far."""
        return sum(row.length for row in self.rows if row is not None)

    def add(self, row: Row | None) -> None:
        """One more record is over: what was said of it stands in the spools."""
        assert self._file is not None
        with said(self._path):
            self._file.write(json.dumps(row).encode() + b"\n")
            self._file.flush()
        self.rows.append(row)

    def give_way(self) -> None:
        """Stop here if a signal came; the record at hand is read again by the run that goes on."""
        if self._stop.name is None:
            return
        where, when = str(self._folder.path), f"after {count(len(self.rows), 'record')}; what was done is saved"
        if self._stop.name == "SIGINT":
            raise KeyboardInterrupt(f"{where}: interrupted {when}; --resume goes on")
        raise StoppedError(f"stopped by {self._stop.name} {when}", where=where, remedy="--resume goes on")

    def close(self, *, keep: bool) -> None:
        """Leave the folder to a later run where a record went well, or it is that of another; else remove it."""
        for spool in self._spools:
            spool.close()
        begun = self._file is not None
        if self._file is not None:
            self._file.close()
        if keep and (any(self.rows) if begun else self._path.exists()):
            self._folder.release()
        else:
            self._folder.remove()


@contextmanager
def working(out: str | Path, settings: dict[str, Any], *, resume: bool, force: bool) -> Iterator[Work]:
    """The work of a run that writes to the directory `out`: gone when the block ends well, else kept as far as it came.

    Raises:
        OutputExistsError: `out` stands already, another run is writing there, or one that was stopped lies beside it,
            and neither `resume` nor `force` is set.
        StateError: `resume`, and the run was begun with other settings, or what it left cannot be read.
        UsageError: `out` cannot be written, or what stands beside it is not ours.
        StoppedError: SIGTERM or SIGUSR1 came; KeyboardInterrupt: SIGINT.
    """
    from longseq.training.signals import StopRequest  # wakes torch, which a merge can do without

    folder = beside(free_directory(out, force=force))
    if not folder.parent.is_dir():
        raise no_directory(out)
    with StopRequest() as stop:
        work, done = Work(folder, stop), False
        try:
            work.begin(settings, resume=resume, force=force)
            yield work
            done = True
        finally:
            work.close(keep=not done)
