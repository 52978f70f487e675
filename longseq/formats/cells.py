"""Cells of text tables: numbers in full precision, NA for what is not there, no cell that breaks its line."""

from __future__ import annotations

import math
import re

NOT_AVAILABLE = "NA"

_ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})
_BREAKS = re.compile(r"[\t\n\r]")


def cell(value: object) -> str:
    """Text of one value. Floats are written so that they read back to the same bits; NaN and None are NA."""
    if value is None:
        return NOT_AVAILABLE
    kind = type(value)  # plain types first: a table may have a row a read
    if kind is int:
        return str(value)
    if kind is float:
        return NOT_AVAILABLE if value != value else repr(value)
    if kind is str and value.isprintable():  # type: ignore[attr-defined]
        return value  # type: ignore[return-value]
    if kind is not str and hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return NOT_AVAILABLE if math.isnan(value) else repr(value)
    text = str(value)
    return text.translate(_ESCAPES) if _BREAKS.search(text) else text
