"""Columns on disk: tables in Arrow files, a column at a time, and long arrays in plain files, a piece at a time.

An array is read into memory of its own, not mapped: mapped pages count as memory of the process, all that were ever
read. The door to datasets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from longseq.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset
    from datasets.arrow_writer import ArrowWriter


class LongArray:
    """Numbers of one type in a file, in the byte order of this machine, as `ndarray.tobytes` gives them."""

    def __init__(self, file: Path, dtype: np.dtype | type, length: int):
        """`length` is how many there are.

        Raises:
            InputError: there are not so many: the file was cut.
        """
        self._dtype = np.dtype(dtype)
        self._file = open(file, "rb", buffering=0)  # noqa: SIM115 (as long as this lives)
        found = os.fstat(self._file.fileno()).st_size
        if found != length * self._dtype.itemsize:
            raise InputError(
                where=str(file),
                expected=f"{length * self._dtype.itemsize:,} bytes",
                found=f"{found:,}",
                remedy="remove its folder, to have it made again",
            )

    def read(self, start: int, end: int) -> np.ndarray:
        """Those at `[start, end)`, read-only."""
        size = self._dtype.itemsize
        return np.frombuffer(os.pread(self._file.fileno(), (end - start) * size, start * size), self._dtype)


class Names(Sequence[str]):
    """A column of text, read where it is asked for."""

    def __init__(self, table: Dataset, column: str):
        self._column = table.data.column(column)

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self._column[i].as_py() for i in range(*at.indices(len(self)))]
        return self._column[int(at)].as_py()

    def __iter__(self) -> Iterator[str]:
        for part in self._column.chunks:
            yield from part.to_pylist()

    def places(self) -> np.ndarray:
        """(R,) int64 place of each in the row of the different ones, which stand in order of their first.

        Told apart by 64 bits of a hash: of a million names two are taken for one with a probability of 3e-8.
        """
        hashes = (int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little") for name in self)
        _, first, which = np.unique(np.fromiter(hashes, np.uint64, len(self)), return_index=True, return_inverse=True)
        place = np.empty(len(first), np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        return place[which]


def numbers(table: Dataset, column: str) -> np.ndarray:
    """(R,) a column of numbers or of truth values."""
    return table.data.column(column).to_numpy()


def opened(file: Path) -> Dataset:
    """An Arrow file, read by memory map."""
    from datasets import Dataset

    return Dataset.from_file(str(file))


def writer(file: Path, **columns: str) -> ArrowWriter:
    """An Arrow file to write rows of these columns, by kind, into."""
    from datasets import Features, Value
    from datasets.arrow_writer import ArrowWriter

    features = Features({column: Value(kind) for column, kind in columns.items()})
    return ArrowWriter(path=str(file), features=features, writer_batch_size=1000)
