"""What `embed` leaves: a table of vectors, written as they come."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longseq.errors import UsageError
from longseq.formats.atomic import free_file, write_aside
from longseq.formats.npy import array_file
from longseq.report.vectors import VectorWriter

TOGETHER = 1 << 16
"""Numbers of vectors that are written at once."""
MOST = 256
"""Parts of them."""


@dataclass(frozen=True)
class Embedded:
    """Vectors of consecutive units of one record."""

    file: str
    record: str
    start: np.ndarray
    """(U,) int64, letters of the record."""
    end: np.ndarray
    """(U,) int64."""
    strand: str
    """`+` forwards, `both` the mean of both strands, `.` of documents."""
    sections: tuple[str, ...] | None
    """(U) titles of the sections that the units are, or lie in."""
    vectors: np.ndarray
    """(U, D) float32; NaN where a unit has no token that says something: no A, C, G or T."""


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What all rows of a table have in common."""

    width: int
    """D."""
    sections: bool
    """Whether rows name sections."""
    layer: str
    model: str
    """sha256 of the checkpoint."""
    facts: dict[str, Any]
    """The request, for the schema's metadata."""


class EmbeddedTable:
    """A Parquet file, and where wanted an array beside it; both appear when the block ends well."""

    def __init__(self, heading: Heading, out: str | Path, *, npy: str | Path | None = None, force: bool = False):
        self.heading, self._out, self._npy, self._force = heading, out, npy, force
        self._stack = ExitStack()
        self._parts: list[Embedded] = []
        self._numbers = 0
        self.rows = 0
        """Taken so far."""

    def __enter__(self) -> EmbeddedTable:
        heading = self.heading
        with ExitStack() as stack:
            aside = stack.enter_context(write_aside(self._out, force=self._force))
            self._array = None
            if self._npy is not None:
                self._array = stack.enter_context(array_file(self._npy, heading.width, force=self._force))
            metadata = {"longseq.embed": json.dumps(heading.facts)}
            writer = VectorWriter(aside, heading.width, sections=heading.sections, metadata=metadata)
            self._table = stack.enter_context(writer)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is not None:
            self._stack.__exit__(kind, *error)
            return
        with self._stack:
            self._write()

    def take(self, part: Embedded) -> None:
        """The next rows."""
        self._parts.append(part)
        self._numbers += part.vectors.size
        self.rows += len(part.vectors)
        if self._numbers >= TOGETHER or len(self._parts) == MOST:
            self._write()

    def _write(self) -> None:
        """What was taken, at once: a table of its own for each short record would cost more than reading it."""
        parts, self._parts, self._numbers = self._parts, [], 0
        if not parts:
            return
        vectors = np.concatenate([part.vectors for part in parts])
        if self._array is not None:
            self._array.write(vectors)
        columns: dict[str, Any] = {
            name: [getattr(part, name) for part in parts for _ in range(len(part.vectors))]
            for name in ("file", "record", "strand")
        }
        if self.heading.sections:
            columns["section"] = [title for part in parts for title in part.sections or ()]
        same = {"layer": self.heading.layer, "model": self.heading.model}
        self._table.write(
            columns
            | {name: [value] * len(vectors) for name, value in same.items()}
            | {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "end")}
            | {"vector": vectors}
        )


def free_files(out: str | Path, npy: str | Path | None, *, force: bool) -> None:
    """Raise UsageError or OutputExistsError where they cannot be written, before the work."""
    for path in (out, npy):
        if path is not None:
            free_file(path, force=force)


def too_many(most: int, width: int, found: int) -> UsageError:
    """More vectors than were asked for."""
    return UsageError(
        where="--per base",
        expected=f"at most {most:,} vectors ({4 * most * width / 2**30:.1f} GiB)",
        found=f"{found:,} or more",
        remedy="--window N, or --most N for as many as that",
    )
