"""`embeddings.parquet`: a row a window in the columns of `longseq embed`, the vector null where no A, C, G, T is."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from longseq.formats.parquet import ParquetWriter
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

FILE = "embeddings.parquet"
GROUP = 1 << 22
"""Numbers of vectors a row group: 16 MiB."""


class VectorTable:
    """The table in a folder, made when the first record with a model comes; use it as a context manager."""

    def __init__(self, folder: Path):
        self._path, self._stack = folder / FILE, ExitStack()
        self._table: ParquetWriter | None = None

    def __enter__(self) -> VectorTable:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def dna(self, summary: RecordSummary) -> None:
        found, row = summary.vectors, summary.row
        if found is None:
            return
        facts = {"file": row.file.encode(errors="backslashreplace").decode(), "record": row.id}
        facts |= {"strand": found.strand, "layer": found.layer, "model": found.model}
        if self._table is None:
            names = ("file", "record", "start", "end", "strand", "layer", "model")
            columns = {name: "int64" if name in ("start", "end") else "string" for name in names}
            columns["vector"] = f"float32[{found.width}]"
            writer = ParquetWriter(self._path, columns, row_group=GROUP // found.width)
            self._table = self._stack.enter_context(writer)
        for block in found.blocks():
            batch = {name: [value] * len(block.start) for name, value in facts.items()}
            self._table.write({**batch, "start": block.start, "end": block.end, "vector": block.vectors})

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no such table."""
