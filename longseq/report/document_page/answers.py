"""The best answers to what was asked, where they stand, the question's words in them marked."""

from __future__ import annotations

from collections.abc import Mapping

from longseq.report.document_page.places import Known, answer, link, listed, roots, standing
from longseq.report.document_page.quotes import shown_answers
from longseq.report.page import Markup, element, escaped
from longseq.results.document import DocumentSummary
from longseq.results.salience import Hit


def answers(summary: DocumentSummary, name: str) -> Markup:
    """A list, best first."""
    above, shown = roots(summary), shown_answers(summary)
    rows = [_row(hit, above, name, number, number - 1 in shown) for number, hit in enumerate(summary.hits, 1)]
    return element("ol", *(Markup(f"{row}\n") for row in rows), class_="answers")


def _row(hit: Hit, above: Mapping[Known, str], name: str, number: int, shown: bool) -> Markup:
    place = " · ".join([*standing(hit, above), f"{hit.start}-{hit.end}", f"relevance {hit.relevance:.2f}"])
    parts: list[object] = [element("bdi", _words(hit), dir="auto"), " ", element("span", place, class_="place")]
    if hit.chosen is not None:
        parts += [" ", link(listed(name, hit.chosen), f"sentence {hit.chosen + 1} of the summary", class_="place")]
    elif shown:
        parts += [" ", link(answer(name, number), "in context", class_="place")]
    return element("li", *parts)


def _words(hit: Hit) -> Markup:
    pieces, last = [], 0
    for start, end in hit.words:
        pieces += [escaped(hit.text[last:start]), element("b", hit.text[start:end])]
        last = end
    return Markup("".join([*pieces, escaped(hit.text[last:])]))
