"""A few rows of a result as a notebook or a prompt shows them: HTML and plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from longseq.report.lines import aligned, screen, shortened
from longseq.report.page import Markup, element

ROWS = 20
"""Rows that are shown."""
LONGEST = 100
"""Letters of a cell in plain text."""


class View(NamedTuple):
    """A table of cells, of which some rows may be left out."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left: int = 0
    """Rows that are not shown."""


def text_of(views: Iterable[View]) -> str:
    """Plain text, a line a row; without a line feed at its end."""
    return screen(line for view in views for line in _lines(view)).rstrip("\n")


def html_of(views: Iterable[View]) -> str:
    """A table each, its text escaped."""
    return "\n".join(_table(view) for view in views)


def cell(value: object) -> str:
    """`1,234`, `35.3`, a text as it stands; empty for nothing."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _lines(view: View) -> Iterable[str]:
    yield view.title
    if not view.rows:
        return
    table = [view.columns, *view.rows]
    yield from aligned([tuple(shortened(" ".join(text.split()), LONGEST) for text in row) for row in table])
    if view.left:
        yield f"  … and {view.left:,} more"


def _table(view: View) -> Markup:
    if not view.rows:
        return element("p", view.title)
    left = [not all(_figure(row[i]) for row in view.rows) for i in range(len(view.columns))]

    def line(name: str, cells: tuple[str, ...]) -> Markup:
        return element("tr", *(_cell(name, text, words) for text, words in zip(cells, left, strict=True)))

    body = element("tbody", *(line("td", row) for row in view.rows))
    parts = (element("caption", view.title), element("thead", line("th", view.columns)), body)
    more = element("p", f"… and {view.left:,} more") if view.left else Markup()
    return Markup(element("table", *parts, style="margin-bottom: 1em") + more)


def _cell(name: str, text: str, words: bool) -> Markup:
    scope = "col" if name == "th" else None
    return element(name, text, scope=scope, style=f"text-align: {'left' if words else 'right'}")


def _figure(text: str) -> bool:
    return text in ("", "NA") or text.lstrip("-")[:1].isdigit()
