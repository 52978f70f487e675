"""Vectors as a Parquet table: those that `longseq embed` is asked for, and `embeddings.parquet` of a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np

from longseq.formats.parquet import ParquetWriter
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

FILE = "embeddings.parquet"
GROUP = 1 << 22
"""Numbers of vectors a row group: 16 MiB."""
MOST = 1 << 16
"""Rows of one."""


class VectorWriter(ParquetWriter):
    """Rows of file, record, start, end, strand, section (where there are sections), layer, model (sha256) and a vector
    of `width` float32, null where it holds NaN; written by row groups."""

    def __init__(
        self, path: str | Path, width: int, *, sections: bool = False, metadata: Mapping[str, str] | None = None
    ):
        columns = {"file": "string", "record": "string", "start": "int64", "end": "int64", "strand": "string"}
        columns |= {"section": "string"} if sections else {}
        columns |= {"layer": "string", "model": "string", "vector": f"float32[{width}]"}
        super().__init__(path, columns, metadata=metadata, row_group=max(1, min(GROUP // width, MOST)))

    def add(
        self,
        vectors: np.ndarray,
        start: np.ndarray,
        end: np.ndarray,
        **same: str,
    ) -> None:
        """(U, width) float32 of consecutive units of one record, and `[start, end)` of each; `same` are the columns in
        which the rows are alike."""
        named = {name: [value] * len(vectors) for name, value in same.items()}
        found: dict[str, Sequence | np.ndarray] = {**named, "start": start, "end": end, "vector": vectors}
        self.write(found)


class VectorTable:
    """The table in a folder, made when the first record with a model comes; use it as a context manager."""

    def __init__(self, folder: Path):
        self._path, self._stack = folder / FILE, ExitStack()
        self._table: VectorWriter | None = None

    def __enter__(self) -> VectorTable:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def dna(self, summary: RecordSummary) -> None:
        found, row = summary.vectors, summary.row
        if found is None:
            return
        same = {"file": row.file, "record": row.id, "strand": found.strand, "layer": found.layer, "model": found.model}
        if self._table is None:
            self._table = self._stack.enter_context(VectorWriter(self._path, found.width))
        for block in found.blocks():
            self._table.add(block.vectors, block.start, block.end, **same)

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no such table."""
