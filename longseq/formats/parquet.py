"""The door to pyarrow: tables written row group by row group, so that a long table is never held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

ROW_GROUP = 1 << 16
"""Rows held before they are written."""


class ParquetWriter:
    """Batches of rows into one file. Use it as a context manager: without its end the file is no Parquet file.

    Args:
        path: the file, new or empty; give it one from `write_aside` or `output_directory`.
        columns: type of each column, in order: "string", "int32", "int64", "float32", "float64", "bool" or
            "list<float32>".
        metadata: text kept in the file's schema.
    """

    def __init__(self, path: str | Path, columns: Mapping[str, str], *, metadata: Mapping[str, str] | None = None):
        import pyarrow
        from pyarrow import parquet

        self._arrow = pyarrow
        fields = [(name, _type(pyarrow, kind)) for name, kind in columns.items()]
        self._schema = pyarrow.schema(fields, metadata=dict(metadata) if metadata else None)
        self._writer = parquet.ParquetWriter(str(path), self._schema, compression="zstd")
        self._held: list[Any] = []
        self._rows = 0

    def write(self, batch: Mapping[str, Sequence[Any]]) -> None:
        """Columns of equal length, all of them. NaN is written as null.

        Raises:
            ValueError: other columns than declared, of unequal length, or of values that do not fit the type.
        """
        if set(batch) != set(self._schema.names):
            raise ValueError(f"expected the columns {self._schema.names}, found {sorted(batch)}")
        arrays = [self._arrow.array(batch[f.name], type=f.type, from_pandas=True) for f in self._schema]
        table = self._arrow.Table.from_arrays(arrays, schema=self._schema)
        self._held.append(table)
        self._rows += table.num_rows
        if self._rows >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(self._arrow.concat_tables(self._held).combine_chunks(), row_group_size=ROW_GROUP)
            self._held, self._rows = [], 0

    def close(self) -> None:
        """Write what is held and the file's end."""
        self._flush()
        self._writer.close()

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._writer.close()


def read_parquet(path: str | Path) -> Iterator[dict[str, list]]:
    """Batches of rows as plain Python columns, in file order; nulls are None."""
    from pyarrow import parquet

    with parquet.ParquetFile(str(path)) as file:
        for batch in file.iter_batches():
            yield batch.to_pydict()


def _type(pyarrow: Any, kind: str) -> Any:
    if kind == "list<float32>":
        return pyarrow.list_(pyarrow.float32())
    return pyarrow.type_for_alias(kind)


def write_parquet(
    path: str | Path,
    columns: Mapping[str, str],
    batches: Iterable[Mapping[str, Sequence[Any]]],
    *,
    force: bool = False,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write all batches to `path`, whole or not at all.

    Raises:
        OutputExistsError: `path` stands already and `force` is not set.
    """
    from longseq.formats.atomic import write_aside

    with write_aside(path, force=force) as aside, ParquetWriter(aside, columns, metadata=metadata) as writer:
        for batch in batches:
            writer.write(batch)
