"""Batches of rows out of files of Parquet and Arrow, some rows at a time; `pyarrow` comes from its door."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from longseq.errors import place
from longseq.formats.containers import FREE, OF_TEXT, BombError

AT_ONCE = 64
"""Rows of Parquet decoded at a time: a row may be a book."""


def batches(pyarrow: Any, file: Any, taken: Any, names: list[str]) -> Iterator[tuple[Any, float]]:
    """Some rows at a time, and the share of the file that was read with them.

    `taken` are the bytes beneath a file of Arrow.

    Raises:
        pyarrow.ArrowException: the file is damaged.
    """
    if hasattr(file, "iter_batches"):  # Parquet
        done, total = 0, max(file.metadata.num_rows, 1)
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(AT_ONCE, row_groups=[group], columns=names, use_threads=False):
                done += batch.num_rows
                yield batch, done / total
    elif hasattr(file, "num_record_batches"):  # a file of Arrow
        for i in range(file.num_record_batches):
            yield _sound(pyarrow, file.get_batch(i), names), (i + 1) / file.num_record_batches
    else:
        for batch in file:
            yield _sound(pyarrow, batch, names), taken.tell() / taken.size()


def _sound(pyarrow: Any, batch: Any, names: list[str]) -> Any:
    """The batch, once its columns are known to lie inside their buffers: pyarrow takes a file's word for
    it, and whoever then asks for a cell may end the process."""
    batch.validate()
    for name in names:
        try:
            batch.column(name).validate(full=True)
        except pyarrow.ArrowInvalid as error:
            if "UTF8" not in str(error) or not holds_text(batch.schema.field(name).type):
                raise  # of text, places are looked at first: what is no UTF-8 is its row's fault alone
    return batch


def holds_text(kind: Any) -> bool:
    """Whether a column of this type holds text."""
    return str(getattr(kind, "value_type", kind)) in ("string", "large_string", "string_view") and "list" not in str(
        kind
    )


def unpacked_size(compute: Any, batch: Any, name: str) -> int:
    """Bytes that the cells of a column have one by one: of a dictionary a value counts for each row that has it."""
    if name not in batch.schema.names:
        return 0
    column = batch.column(name)
    if not hasattr(column, "dictionary") or not holds_text(column.type):
        return column.nbytes
    return compute.sum(compute.binary_length(column.dictionary).take(column.indices)).as_py() or 0


def require_sound(source: str, column: str, unpacked: int, packed: int) -> None:
    """Raise where cells of a column come to far more than the bytes of their files: one text may stand for all rows.

    Raises:
        BombError: they do.
    """
    if unpacked > max(FREE, OF_TEXT * packed):
        raise BombError(
            where=place(source),
            expected=f"a column {column!r} of at most {OF_TEXT} times the size of its file",
            found=f"{unpacked:,} bytes from {packed:,}, perhaps a bomb",
            remedy="write its texts to a file of lines if it is sound",
        )
