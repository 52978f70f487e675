"""The sections of a document as a table: how much of it each is, and what it gave the summary."""

from __future__ import annotations

from collections.abc import Sequence

from longseq.log import count
from longseq.report.document_page.places import link, listed
from longseq.report.page import Markup, element, table
from longseq.results.document import DocumentSummary
from longseq.results.salience import SectionShare

FEW = 24
"""Sections that are listed without being asked for."""


def sections_table(summary: DocumentSummary, name: str) -> Markup:
    """The outline, how much of the text each section is, and which sentences of the summary it gave."""
    rows, before = [], -1
    for share in summary.outline:
        if summary.documents and share.document != before:
            one, before = summary.documents[share.document], share.document
            rows.append([element("b", f"{one.file} ({one.id})"), "", "", ""])
        rows.append(_share(share, max(summary.words, 1), name))
    found = table(("section", "in the summary", "words", "sentences"), rows, "Sections of the text")
    left = f"{summary.outline_cut:,} more, inner or later ones, are not listed." if summary.outline_cut else ""
    parts: Sequence[object] = [found, *([element("p", left, class_="facts")] if left else [])]
    if len(summary.outline) <= FEW:
        return Markup("".join(map(str, parts)))
    return element("details", element("summary", f"{count(len(summary.outline), 'section')}"), *parts)


def _share(share: SectionShare, words: int, name: str) -> list[Markup | str]:
    *above, title = share.title.split(" > ")
    part = 100 * share.words / words
    bar = element("i", "", class_="share", style=f"width:{part:.1f}%")
    links = [link(listed(name, at), at + 1) for at in share.chosen]
    return [
        element("span", title or "(before the first title)", dir="auto", class_=f"in{min(len(above), 5)}"),
        Markup(" ".join(links)),
        element("div", f"{share.words:,} ({part:.1f} %)", bar, class_="words"),
        f"{share.sentences:,}",
    ]
