"""Where things stand in a document, as links and as words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from longseq.report.page import Markup, element
from longseq.results.document import DocumentSummary


class Placed(Protocol):
    """A sentence that stands somewhere."""

    @property
    def file(self) -> str | None: ...
    @property
    def id(self) -> str | None: ...
    @property
    def index(self) -> int | None: ...
    @property
    def section(self) -> str: ...
    @property
    def page(self) -> int | None: ...
    @property
    def page_label(self) -> str | None: ...


def title_of(summary: DocumentSummary) -> str:
    """What a document is called: as it says, or by its only outermost heading, its name, its file."""
    heading = "" if summary.documents else roots(summary).get(ALONE, "")
    return " ".join((summary.description or heading or summary.id or summary.file).split())


Known = tuple[str | None, str | None, int | None]
"""File, id and place there of a document among many."""
ALONE: Known = (None, None, None)
"""Of a summary of one, whose sentences say nothing of that."""


def documents(summary: DocumentSummary) -> list[Known]:
    """By number."""
    return [(one.file, one.id, one.index) for one in summary.documents] or [ALONE]


def document_of(one: Placed) -> Known:
    """That of a sentence."""
    return (one.file, one.id, one.index)


def roots(summary: DocumentSummary) -> dict[Known, str]:
    """The title below which all of a document stands, of each that has but one outermost heading."""
    outer: dict[Known, list[str]] = {}
    known = documents(summary)
    for share in summary.outline:
        if " > " not in share.title:
            outer.setdefault(known[share.document], []).append(share.title)
    return {document: titles[0] for document, titles in outer.items() if len(titles) == 1}


def listed(name: str, at: int) -> str:
    """Id of a sentence in the list of a document's summary."""
    return f"{name}-l{at + 1}"


def marked(name: str, at: int) -> str:
    """Id of it in its context."""
    return f"{name}-s{at + 1}"


def answer(name: str, number: int) -> str:
    """Id of an answer in its context."""
    return f"{name}-a{number}"


def link(to: str, *content: object, **attributes: object) -> Markup:
    return element("a", *content, href=f"#{to}", **attributes)


def titles(path: str) -> str:
    """Titles of sections, outermost first."""
    return " › ".join(path.split(" > "))


def below(root: str | None, path: str) -> str:
    """Titles of sections without the one that is above all."""
    return path.removeprefix(f"{root} > ") if root else path


def standing(one: Placed, above: Mapping[Known, str]) -> list[str]:
    """File where there are many, section below the title that is above all (`roots`), page."""
    parts = [] if one.file is None else [one.file]
    parts += [titles(below(above.get(document_of(one)), one.section))] if one.section else []
    if one.page is not None:
        label = "" if one.page_label in (None, str(one.page)) else f" ({one.page_label})"
        parts.append(f"page {one.page}{label}")
    return parts


def minutes(value: float) -> str:
    """`less than a minute`, `19 minutes`, `50 hours 18 minutes`."""
    whole = round(value)
    if whole < 1:
        return "less than a minute"
    hours, left = divmod(whole, 60)
    parts = [(hours, "hour"), (left, "minute")] if hours < 100 else [(round(value / 60), "hour")]
    return " ".join(f"{number:,} {unit}{'s' * (number != 1)}" for number, unit in parts if number)
