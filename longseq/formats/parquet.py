"""The door to pyarrow: Parquet is written row group by row group, Parquet and Arrow are read some rows at a time, so
that a long table is never held."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from longseq.errors import InputError, place
from longseq.formats.arrow_batches import batches, holds_text, require_sound, unpacked_size
from longseq.formats.arrow_columns import column
from longseq.formats.containers import LOOKED, BombError, Container
from longseq.formats.jsonfile import parsed
from longseq.formats.rows import RawRow, Rows, checked

ROW_GROUP = 1 << 16
"""Rows held before they are written."""
READ_AHEAD = 1 << 20
"""Bytes of a column read at a time; read ahead, a group is held whole and its memory kept."""
TOGETHER, FEW = 256, 1 << 10
"""Batches that are held one by one, and their rows in all."""


class ParquetWriter:
    """Batches of rows into one file. Use it as a context manager: without its end the file is no Parquet file.

    Args:
        path: the file, new or empty; give it one from `write_aside` or `output_directory`.
        columns: type of each column, in order: "string", "int32", "int64", "float32", "float64", "bool",
            "list<float32>", or "float32[n]" for vectors of n numbers.
        metadata: text kept in the file's schema.
        row_group: rows held before they are written; None: `ROW_GROUP`.
    """

    def __init__(
        self,
        path: str | Path,
        columns: Mapping[str, str],
        *,
        metadata: Mapping[str, str] | None = None,
        row_group: int | None = None,
    ):
        import pyarrow
        from pyarrow import parquet

        self._arrow = pyarrow
        self._schema = _schema(pyarrow, columns, metadata)
        self._file = pyarrow.OSFile(os.fsencode(path), "wb")  # of a name that is no text, too
        self._writer = parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        self._held: list[Any] = []
        self._small: list[Any] = []
        """Of the last batches, before they are one table: a table costs more than a short row."""
        self._few = 0
        """Their rows."""
        self._rows, self._row_group = 0, row_group or ROW_GROUP

    def write(self, batch: Mapping[str, Any]) -> None:
        """Columns of equal length, all of them. NaN is written as null; so is a vector whose first number is NaN.
        What is no text, as in the name of a file, is written as `\\udcff`.

        Vectors come as (rows, n) float32.

        Raises:
            ValueError: other columns than declared, of unequal length, or of values that do not fit the type.
        """
        table = _table(self._arrow, self._schema, batch)
        self._small.append(table)
        self._rows += table.num_rows
        self._few += table.num_rows
        if len(self._small) == TOGETHER or self._few >= FEW:
            self._join()
        if self._rows >= self._row_group:
            self._flush()

    def _join(self) -> None:
        if self._small:
            self._held.append(self._arrow.concat_tables(self._small).combine_chunks())
            self._small, self._few = [], 0

    def _flush(self) -> None:
        self._join()
        if self._held:
            self._writer.write_table(
                self._arrow.concat_tables(self._held).combine_chunks(), row_group_size=self._row_group
            )
            self._held, self._rows = [], 0

    def close(self) -> None:
        """Write what is held and the file's end."""
        with self._file:
            self._flush()
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._held, self._small = [], []  # nobody will read it
        self.close()


def arrow_table(columns: Mapping[str, str], batch: Mapping[str, Any]) -> Any:
    """A `pyarrow.Table` in memory, of columns as `ParquetWriter` takes them and writes them.

    Raises:
        ValueError: as `ParquetWriter.write` does.
    """
    import pyarrow

    return _table(pyarrow, _schema(pyarrow, columns, None), batch)


def _schema(pyarrow: Any, columns: Mapping[str, str], metadata: Mapping[str, str] | None) -> Any:
    fields = [(name, _type(pyarrow, kind)) for name, kind in columns.items()]
    return pyarrow.schema(fields, metadata=dict(metadata) if metadata else None)


def _table(pyarrow: Any, schema: Any, batch: Mapping[str, Any]) -> Any:
    if set(batch) != set(schema.names):
        raise ValueError(f"expected the columns {schema.names}, found {sorted(batch)}")
    arrays = [column(pyarrow, batch[field.name], field.type) for field in schema]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _type(pyarrow: Any, kind: str) -> Any:
    if kind == "list<float32>":
        return pyarrow.list_(pyarrow.float32())
    name, bracket, size = kind.partition("[")
    if bracket:
        return pyarrow.list_(pyarrow.type_for_alias(name), int(size.removesuffix("]")))
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


class ArrowRows(Rows):
    """Rows of Parquet files, or of Arrow streams and files, one behind the other as one table.

    A few rows of Parquet are held at a time, of Arrow one record batch as it was written. Numbers that stand for names
    of classes in a data set of the `datasets` library are read as these names.

    Raises:
        InputError: a file that cannot be read.
    """

    container: Container = "plain"
    truncated = False

    def __init__(self, source: str, files: Sequence[str]):
        self.source, self._files = source, tuple(files)
        self.stream = self
        self._sizes = [os.path.getsize(file) for file in self._files]
        self._read = 0.0
        with _opened(self._files[0]) as (file, _):
            schema = file.schema_arrow if hasattr(file, "schema_arrow") else file.schema
            self.columns = {field.name: holds_text(field.type) for field in schema}
            checked(schema.names, place(source))
            self._classes = _classes(schema.metadata or {})

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self._sizes)

    @property
    def position(self) -> int:
        """About how many of them were read."""
        return round(self._read)

    def close(self) -> None:
        """Files are open only while their rows are walked."""

    def walk(self, wanted: Collection[str] | None = None) -> Iterator[RawRow]:
        import pyarrow

        names = [name for name in self.columns if wanted is None or name in wanted]
        number = 0
        for i, path in enumerate(self._files):
            with _opened(path) as (file, taken):
                for batch, share in batches(pyarrow, file, taken, names):
                    columns = [batch.column(name) for name in names]
                    for row in range(batch.num_rows):
                        number += 1
                        yield self._row(number, names, [column[row] for column in columns])
                    self._read = sum(self._sizes[:i]) + share * self._sizes[i]

    def require_text(self, column: str) -> None:
        import pyarrow
        from pyarrow import compute

        packed = unpacked = 0
        for size, path in zip(self._sizes, self._files, strict=True):
            packed += size
            try:
                with _opened(path) as (file, taken):
                    for batch, _ in batches(pyarrow, file, taken, [column] if column in self.columns else []):
                        unpacked += unpacked_size(compute, batch, column)
                        require_sound(self.source, column, unpacked, packed)
                        if unpacked > LOOKED:
                            return
            except BombError:
                raise
            except InputError:
                return  # said where it is reached

    def _row(self, number: int, names: list[str], cells: list[Any]) -> RawRow:
        try:
            return RawRow(
                number, number, {name: self._value(name, cell) for name, cell in zip(names, cells, strict=True)}
            )
        except UnicodeDecodeError as error:
            found = f"byte 0x{error.object[error.start]:02x}"
            fault = InputError(where=place(self.source, number), expected="UTF-8 text", found=found)
            return RawRow(number, number, {}, fault)

    def _value(self, name: str, cell: Any) -> Any:
        value = cell.as_py()
        classes = self._classes.get(name)
        return value if classes is None else _named(value, classes)


def columns_of(path: str) -> tuple[int | None, dict[str, str]]:
    """Rows of a file of Parquet or Arrow (of a stream None), and the type of each column by name.

    Raises:
        InputError: it cannot be read.
    """
    with _opened(path) as (file, _):
        if hasattr(file, "metadata"):
            rows = file.metadata.num_rows
        else:
            batches = getattr(file, "num_record_batches", None)
            rows = None if batches is None else sum(file.get_batch(i).num_rows for i in range(batches))
        schema = file.schema_arrow if hasattr(file, "schema_arrow") else file.schema
        return rows, {field.name: str(field.type) for field in schema}


@contextmanager
def _opened(path: str) -> Iterator[tuple[Any, Any]]:
    """A reader of Parquet or of Arrow, by content, and the bytes beneath one of Arrow."""
    import pyarrow
    from pyarrow import ipc, parquet

    try:
        with pyarrow.OSFile(os.fsencode(path)) as taken:
            start = taken.read(6)
            taken.seek(0)
            if start.startswith(b"PAR1"):
                with parquet.ParquetFile(taken, buffer_size=READ_AHEAD, pre_buffer=False) as file:
                    yield file, None
            else:
                with ipc.open_file(taken) if start == b"ARROW1" else ipc.open_stream(taken) as file:
                    yield file, taken
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:  # a name of a column may be no text
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"is damaged or ends early ({problem})", where=place(path), remedy="copy or download the file again"
        ) from None


def _classes(metadata: Mapping[bytes, bytes]) -> dict[str, list[str]]:
    """Names of classes by column, as the `datasets` library keeps them in a schema."""
    try:
        features = parsed(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        found = {name: (feature.get("feature") or feature).get("names") for name, feature in features.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name: names for name, names in found.items() if isinstance(names, list)}


def _named(value: Any, classes: list[str]) -> Any:
    """Classes by name; what is no class, such as -1, is none."""
    if isinstance(value, list):
        return [_named(part, classes) for part in value]
    return classes[value] if isinstance(value, int) and 0 <= value < len(classes) else None
