"""Batches of rows out of files of Parquet and Arrow, some rows at a time; `pyarrow` comes from its door."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
