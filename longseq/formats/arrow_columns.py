"""Columns of values as Arrow arrays; `pyarrow` comes from its door.

`pyarrow.array` imports pandas, where that is installed, which takes longer and more memory than many a table. What is
already as Arrow holds it is therefore handed over as it lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

_NUMBERS = {"int32": np.int32, "int64": np.int64, "float": np.float32, "double": np.float64}
"""Types by Arrow's names for them."""


def column(pyarrow: Any, values: Any, kind: Any) -> Any:
    """Values as an array of the type `kind`. NaN is null; so is a vector whose first number is NaN. What is no text, as
    in the name of a file, is written as `\\udcff`.

    Raises:
        ValueError: values that do not fit the type.
    """
    if pyarrow.types.is_fixed_size_list(kind):
        return _vectors(pyarrow, values, kind)
    if isinstance(values, np.ndarray) and str(kind) in _NUMBERS and values.dtype == _NUMBERS[str(kind)]:
        return _numbers(pyarrow, values, kind, values == values)
    if str(kind) == "string" and all(value is None or type(value) is str for value in values):
        return _texts(pyarrow, values)
    return pyarrow.array(values, type=kind, from_pandas=True)


def _numbers(pyarrow: Any, values: np.ndarray, kind: Any, known: np.ndarray) -> Any:
    return pyarrow.Array.from_buffers(
        kind, len(values), [_bits(pyarrow, known), pyarrow.py_buffer(np.ascontiguousarray(values))]
    )


def _texts(pyarrow: Any, values: Sequence[str | None]) -> Any:
    known = np.fromiter((value is not None for value in values), bool, len(values))
    text = "".join(value or "" for value in values)
    sizes = (len(value or "") for value in values)
    if not text.isascii():  # a letter may be several bytes
        sizes = (len((value or "").encode(errors="backslashreplace")) for value in values)
    ends = np.cumsum(np.fromiter(chain([0], sizes), np.int64, len(values) + 1))
    if ends[-1] >= 2**31:
        raise ValueError(f"expected less than {2**31:,} bytes of text at once, found {ends[-1]:,}")
    data = text.encode(errors="backslashreplace")
    buffers = [_bits(pyarrow, known), pyarrow.py_buffer(ends.astype(np.int32)), pyarrow.py_buffer(data)]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(values), buffers)


def _vectors(pyarrow: Any, values: np.ndarray, kind: Any) -> Any:
    if values.shape[1:] != (kind.list_size,):
        raise ValueError(f"expected vectors of {kind.list_size} numbers, found {values.shape[1:]}")
    flat = values.reshape(-1)
    flat = _numbers(
        pyarrow, flat.astype(_NUMBERS[str(kind.value_type)], copy=False), kind.value_type, np.ones(len(flat), bool)
    )
    known = _bits(pyarrow, values[:, 0] == values[:, 0])
    return pyarrow.FixedSizeListArray.from_buffers(kind, len(values), [known], children=[flat])


def _bits(pyarrow: Any, known: np.ndarray) -> Any:
    """Which values there are, a bit each; None where all are."""
    return None if known.all() else pyarrow.py_buffer(np.packbits(known, bitorder="little"))
