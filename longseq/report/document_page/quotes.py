"""The sentences of a summary as a list, and each one marked in its context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from longseq.report.document_page.places import (
    ALONE,
    Known,
    answer,
    below,
    document_of,
    link,
    listed,
    marked,
    roots,
    standing,
    titles,
)
from longseq.report.page import Markup, element, escaped
from longseq.results.document import Context, DocumentSummary, SentenceRow

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


def lists(summary: DocumentSummary, name: str) -> Iterator[Markup]:
    """The sentences, of each part below its title; one that is in several parts is linked to in the first."""
    shown = {at for one in summary.contexts for at in one.sentences}
    before: set[int] = set()
    above = roots(summary)
    root = None if summary.documents else above.get(ALONE)
    whole: list[tuple[str | None, Sequence[int]]] = [(None, range(len(summary.sentences)))]
    parts: list[tuple[str | None, Sequence[int]]] = [(part.title, part.sentences) for part in summary.parts]
    for title, places in parts if summary.by and parts else whole:
        if title is not None:
            words = titles(below(root, title)) or "(no title)"
            yield element("h3", f"Page {words}" if summary.by == "page" else words, dir="auto")
        rows = (_listed(summary.sentences[at], at, name, above, at in shown, at not in before) for at in places)
        yield element("ol", *(Markup(f"{row}\n") for row in rows), class_="summary")
        before |= set(places)


def _listed(row: SentenceRow, at: int, name: str, above: Mapping[Known, str], linked: bool, first: bool) -> Markup:
    """A sentence, known on the page by its number in the document's summary."""
    inside = element("bdi", row.text, dir="auto")
    text = link(marked(name, at), inside) if linked else inside
    where = element("span", place(row, above), class_="place")
    return element("li", text, " ", where, value=at + 1, id=listed(name, at) if first else None)


def place(row: SentenceRow, above: Mapping[Known, str]) -> str:
    """Where a sentence stands, and when it was chosen."""
    return " · ".join([*standing(row, above), row.span, f"rank {row.rank}"])


def contexts(summary: DocumentSummary, name: str) -> Iterator[Markup]:
    """The stretches of the text in which the sentences stand, these and answers to a question marked."""
    above, answered = roots(summary), shown_answers(summary)
    for number, context in enumerate(summary.contexts):
        yield _context(summary, context, name, above, [at for at, where in answered.items() if where == number])


def shown_answers(summary: DocumentSummary) -> dict[int, int]:
    """Numbers of the answers that are not in the summary but in a context, to the number of that context."""
    found = {}
    for number, hit in enumerate(summary.hits):
        for at, context in enumerate(summary.contexts):
            row = summary.sentences[context.sentences[0]]
            there = context.start <= hit.start and hit.end <= context.start + len(context.text)
            if hit.chosen is None and there and document_of(hit) == document_of(row):
                found[number] = at
    return found


def _context(
    summary: DocumentSummary, context: Context, name: str, above: Mapping[Known, str], answers: Sequence[int]
) -> Markup:
    """`answers` are numbers of those that stand in it and not in the summary."""
    rows = [(summary.sentences[at], at) for at in context.sentences]
    spans = [(row.start or 0, row.end or 0, _marked(row, at, name, above)) for row, at in rows]
    for at in answers:
        hit = summary.hits[at]
        text = element("span", hit.text, id=answer(name, at + 1), class_="answer")
        spans.append((hit.start, hit.end, text))
    pieces: list[Markup] = [Markup("…" if context.cut_before else "")]
    last = context.start
    for start, end, text in sorted(spans):
        pieces += [_paragraphs(context.text[last - context.start : start - context.start]), text]
        last = end
    pieces += [_paragraphs(context.text[last - context.start :]), Markup("…" if context.cut_after else "")]
    text = Markup(f'<p class="text" dir="auto">{"".join(pieces)}</p>')
    return element("article", element("p", " · ".join(standing(rows[0][0], above)), class_="place"), text)


def _marked(row: SentenceRow, at: int, name: str, above: Mapping[Known, str]) -> Markup:
    back = link(listed(name, at), at + 1, aria_label=f"Sentence {at + 1} in the summary")
    mark = element("mark", row.text, id=marked(name, at), title=place(row, above), tabindex="-1")
    return Markup(mark + element("sup", back))


def _paragraphs(text: str) -> Markup:
    return Markup('</p><p class="text" dir="auto">'.join(map(escaped, _PARAGRAPH.split(text))))
