"""Cells of text tables: numbers in full precision, NA for what is not there, no cell that breaks its line.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and a formula can do harm. `guarded`
puts an apostrophe in front of text that begins so, as who types there does, and `unguarded` takes it away again. A
number or a mark alone (a strand) stays as it is.
"""

from __future__ import annotations

import math
import re

from longseq.errors import printable

NOT_AVAILABLE = "NA"

_ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})
_FORMULA = re.compile(r"'*[=+\-@＝＋－＠].")


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
    return text if text.isprintable() else printable(text.translate(_ESCAPES))


def guarded(text: str) -> str:
    """A cell of text such that a spreadsheet shows its letters, and a reader of quoted cells (RFC 4180) reads them."""
    if text.startswith('"'):
        return '"' + text.replace('"', '""') + '"'
    return f"'{text}" if _is_formula(text) else text


def unguarded(text: str) -> str:
    """A cell before it was `guarded`, as a reader of quoted cells gives it."""
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    if not _FORMULA.match(text):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
