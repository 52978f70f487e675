"""Markdown as output: tables, and text that means nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$])|^(\s*)([-+])(?=\s)|^(\s*\d+)([.)])(?=\s)|&(?=#?\w+;)", re.MULTILINE)


def escape(text: str) -> str:
    """`text` such that a Markdown reader shows its letters as they are."""

    def one(match: re.Match) -> str:
        mark, indent, bullet, number, stop = match.groups()
        if mark:
            return "\\" + mark
        if bullet:
            return f"{indent}\\{bullet}"
        if stop:
            return f"{number}\\{stop}"
        return "&amp;"

    return _MARKS.sub(one, text)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table (GitHub Flavored Markdown, section 4.10). Columns that hold only numbers are set to the right.

    Raises:
        ValueError: a row with another number of cells than there are columns.
    """
    body = [list(row) for row in rows]
    for row in body:
        if len(row) != len(columns):
            raise ValueError(f"expected {len(columns)} cells, found {len(row)}")
    numeric = [bool(body) and all(isinstance(row[i], int | float) for row in body) for i in range(len(columns))]
    lines = [
        _line(columns),
        "|" + "|".join(" ---: " if right else " --- " for right in numeric) + "|",
        *(_line(row) for row in body),
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(escape(str(c)).replace("\r", "").replace("\n", "<br>") for c in cells) + " |"
