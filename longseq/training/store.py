"""Bases on disk: the training records as ids, one byte each, made once for their inputs.

Every record is cut into stretches at its runs of unscored letters, so that no window is spent on a gap; a stretch
knows its record and its first base there. The stretches stand one behind the other. Nothing holds a record, or a list
of records, in memory: a stretch costs 28 bytes there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longseq.errors import InputError, UsageError, place
from longseq.formats.folders import shards
from longseq.formats.paths import require_text
from longseq.log import NullProgress, Progress, Spot
from longseq.records import Alphabet, Record
from longseq.tokens import DnaTokenizer
from longseq.training.cache import made
from longseq.training.columns import LongArray, Names, numbers, opened, writer

GAP = 64
"""A run of this many letters that are not A, C, G or T ends a stretch."""
_SCHEMA = "longseq.store/2"


class Stretches(NamedTuple):
    """S runs of bases, in order of record and position."""

    record: np.ndarray
    """(S,) int32, row of the record in the store."""
    start: np.ndarray
    """(S,) int64, first base, in the record."""
    length: np.ndarray
    """(S,) int64, bases."""
    offset: np.ndarray
    """(S,) int64, first base, in the store."""

    @property
    def bases(self) -> int:
        return int(self.length.sum())


class Store:
    """The training records of one set of inputs, opened for reading."""

    def __init__(self, directory: Path):
        self.digest = directory.name
        self.records = opened(directory / "records.arrow")
        """id, source, length, masked (lower-case letters), truncated of each record."""
        table = opened(directory / "stretches.arrow")
        length = numbers(table, "length")
        self.stretches = Stretches(
            numbers(table, "record"), numbers(table, "start"), length, np.cumsum(length) - length
        )
        self._ids = LongArray(directory / "ids.bin", np.uint8, self.stretches.bases)

    @property
    def ids(self) -> Names:
        """(R) names of the records."""
        return Names(self.records, "id")

    def read(self, start: int, end: int) -> np.ndarray:
        """Ids `[start, end)` in the store's own coordinates, uint8."""
        return self._ids.read(start, end)

    @property
    def soft_masked(self) -> float:
        """Share of the letters in lower case, of records in which case is a mask."""
        letters, masked = (int(numbers(self.records, name).sum()) for name in ("length", "masked"))
        return masked / letters

    def truncated(self) -> list[str]:
        """`file (record)` of each record that was cut short by the end of its file."""
        cut = np.flatnonzero(numbers(self.records, "truncated")).tolist()
        return [place(self.records[i]["source"], record=self.records[i]["id"]) for i in cut]


def prepare(
    inputs: Sequence[str],
    directory: Path,
    tokenizer: DnaTokenizer,
    progress: Progress | None = None,
    look: Path | None = None,
    text: str | None = None,
    *,
    fixed: bool = False,
) -> Store:
    """The store of these files under `directory`, or under `look` if it is there already, in a folder named by the
    digest of their bytes and the alphabet; `text` is the column of tables that holds the bases.
    With `fixed` it has to be there.

    Raises:
        ConfigError: it is not there, and `fixed`.
        InputError: a file that cannot be read, no DNA, or no base A, C, G or T at all.
        UsageError: a stream, or a path that no text file can hold; a directory that cannot be written.
    """

    def make(aside: Path) -> None:
        write(_records(inputs, text), aside, tokenizer, progress or NullProgress())
        if Store(aside).stretches.bases == 0:
            raise InputError(where=", ".join(inputs), expected="bases A, C, G or T to learn from", found="none")

    return Store(made(digest(inputs, tokenizer.alphabet, text), directory, make, look, fixed=fixed))


def digest(inputs: Sequence[str], alphabet: Alphabet, text: str | None = None) -> str:
    """As `fingerprint`, of what the stored ids depend on."""
    return fingerprint(inputs, f"{_SCHEMA} {alphabet.digest()} {GAP}", text)


def fingerprint(inputs: Sequence[str], made_with: str, text: str | None = None) -> str:
    """16 hexadecimal figures of sha256 over the bytes of the files, in order, and `made_with`, and the column `text`.

    Raises:
        InputError: a file that cannot be read.
        UsageError: a stream, or a path that no text file can hold.
    """
    total = hashlib.sha256((made_with if text is None else f"{made_with} text={text}").encode())
    for name in inputs:
        if name == "-":
            raise UsageError(where="<stdin>", expected="a file, to come back to on a resume", found="a stream")
        require_text(name)
    for part in (part for name in inputs for part in shards(name) or (name,)):
        try:
            with open(part, "rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise InputError(error.strerror or "cannot be read", where=part, remedy="check the path") from None
    return total.hexdigest()[:16]


def write(records: Iterable[Record], directory: Path, tokenizer: DnaTokenizer, progress: Progress) -> None:
    """Write records, stretches and ids, as they come, into an existing directory."""

    about = writer(
        directory / "records.arrow", id="string", source="string", length="int64", masked="int64", truncated="bool"
    )
    stretches = writer(directory / "stretches.arrow", record="int32", start="int64", length="int64")
    progress.start("read", None, "base")
    with open(directory / "ids.bin", "wb") as file:
        for number, record in enumerate(records):
            pieces, spot = _Encoded(record, tokenizer), Spot(record.id, record.length)
            first = end = 0
            for start, ids in known(pieces):
                if start != end:
                    if end > first:
                        stretches.write({"record": number, "start": first, "length": end - first})
                    first = start
                end = start + len(ids)
                file.write(ids.tobytes())
                progress.advance(len(ids), record=spot.on(len(ids)))
            if end > first:
                stretches.write({"record": number, "start": first, "length": end - first})
            about.write(
                {
                    "id": record.id,
                    "source": record.source,
                    "length": pieces.length,
                    "masked": pieces.masked,
                    "truncated": record.truncated,
                }
            )
    for table in (about, stretches):
        table.finalize()
    progress.finish()


def known(pieces: Iterable[np.ndarray], gap: int = GAP) -> Iterator[tuple[int, np.ndarray]]:
    """The ids of a record without its ends and runs of `gap` or more letters that are not A, C, G or T.

    Yields (first position, ids); what follows on directly belongs to the same stretch. How the record comes in pieces
    changes no stretch.
    """
    held = np.zeros(0, np.uint8)  # fewer than `gap` such letters, of which the next piece decides
    at, inside = 0, False
    for piece in pieces:
        ids = np.concatenate([held, piece])
        runs = np.flatnonzero(np.diff(ids > 3, prepend=False, append=False)).reshape(-1, 2)
        begin, end = 0, len(ids)
        breaks = (runs[:, 1] - runs[:, 0] >= gap) | ((runs[:, 0] == 0) & (not inside))
        if len(runs) and runs[-1, 1] == end and not breaks[-1]:
            end = int(runs[-1, 0])
        for a, b in runs[breaks].tolist():
            if a > begin:
                yield at + begin, ids[begin:a]
            begin, inside = b, False
        if end > begin:
            yield at + begin, ids[begin:end]
            inside = True
        held = ids[max(begin, end) :]
        at += len(ids) - len(held)


class _Encoded:
    """The pieces of a record as ids, counting letters as they pass."""

    def __init__(self, record: Record, tokenizer: DnaTokenizer):
        self._record, self._tokenizer = record, tokenizer
        self.length = self.masked = 0

    def __iter__(self) -> Iterator[np.ndarray]:
        for letters in self._record.pieces:
            assert isinstance(letters, bytes)
            ids, lower = self._tokenizer.encode(letters, self.length)
            self.length += len(ids)
            self.masked += int(lower.sum()) if self._record.case_is_mask else 0
            yield ids


def _records(inputs: Sequence[str], text: str | None) -> Iterator[Record]:
    from longseq.formats import read

    for name in inputs:
        for record in read(name, text=text):
            if record.kind != "dna":
                remedy = "documents are learned from with a tokenizer: longseq tokenizer train, then --tokenizer"
                raise InputError(where=record.where, expected="DNA", found=record.kind, remedy=remedy)
            yield record
