"""Documents on `report.html`: sentences of each as a list, and each one marked in its context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType

from longseq.report.page import Markup, element, escaped
from longseq.report.pages import spool
from longseq.report.report_page import Facts
from longseq.results.dna import RecordSummary
from longseq.results.document import GENERATED, Context, DocumentSummary, SentenceRow

STYLE = """
ol.summary { padding-left: 2.2em; } ol.summary li { margin: .5em 0; } ol.summary a { color: inherit; }
article { margin: 1.4em 0; padding-left: .9em; border-left: 3px solid var(--line); } article p { margin: .4em 0; }
"""
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


class DocumentPart:
    """The part of documents (`longseq.report.report_page.Part`), whose sections wait on disk."""

    style = STYLE

    def __init__(self) -> None:
        self._sections, self._contents = spool(), spool()
        self._title = ""
        self.count = 0

    def __enter__(self) -> DocumentPart:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._sections.close()
        self._contents.close()

    def dna(self, summary: RecordSummary) -> None:
        """DNA has a part of its own."""

    def document(self, summary: DocumentSummary) -> None:
        self.count += 1
        title = title_of(summary)
        self._title = self._title or title
        self._sections.write(document_section(summary, self.count) + "\n")
        self._contents.write(element("li", element("a", title, href=f"#d{self.count}", dir="auto")) + "\n")

    def title(self) -> str:
        return self._title if self.count == 1 else f"Summary of {self.count:,} documents"

    def contents(self, facts: Facts) -> Iterable[tuple[str, str]]:
        return [("d1", "Summary")] if self.count == 1 else [("documents", f"{self.count:,} documents")]

    def sections(self, facts: Facts) -> Iterator[Markup]:
        if self.count > 1:
            self._contents.seek(0)
            yield Markup('<section id="documents">\n<h2>Documents</h2>\n<ol>\n')
            yield from map(Markup, self._contents)
            yield Markup("</ol>\n</section>\n")
        self._sections.seek(0)
        yield from map(Markup, self._sections)


def title_of(summary: DocumentSummary) -> str:
    """What a document is called."""
    return summary.description or summary.id or summary.file


def document_section(summary: DocumentSummary, number: int) -> Markup:
    """A document as a section of the page, known there as `d` and its number."""
    return element("section", *(Markup(f"{part}\n") for part in _parts(summary, f"d{number}")), id=f"d{number}")


def _parts(summary: DocumentSummary, name: str) -> Iterator[Markup]:
    yield element("h2", title_of(summary), dir="auto")
    chosen = f"{len(summary.sentences):,} of {summary.sentences_total:,} sentences"
    words = f"{summary.summary_words:,} of {summary.words:,} words"
    yield element("p", f"{chosen}, {words}; allowed: {summary.budget}.", class_="facts")
    if summary.method == GENERATED:
        yield element("p", element("strong", "Not verbatim: written by a model."), class_="facts")
    if summary.queries:
        yield element("p", f"Asked: {'; '.join(summary.queries)}", class_="facts", dir="auto")
    yield from _lists(summary, name)
    notes = [*summary.remarks, *(["the file ended before the document did"] if summary.truncated else [])]
    if notes:
        yield element("ul", *(element("li", note) for note in notes), class_="facts")
    if summary.contexts:
        yield element("h3", "In context")
    for context in summary.contexts:
        yield _context(summary, context, name)
    yield _source(summary)


def _lists(summary: DocumentSummary, name: str) -> Iterator[Markup]:
    """The sentences, of each part below its title; one that is in several parts is linked to in the first."""
    shown = {at for one in summary.contexts for at in one.sentences}
    listed: set[int] = set()
    whole: list[tuple[str | None, Sequence[int]]] = [(None, range(len(summary.sentences)))]
    parts: list[tuple[str | None, Sequence[int]]] = [(part.title, part.sentences) for part in summary.parts]
    for title, places in parts if summary.by and parts else whole:
        if title is not None:
            titles = " › ".join(title.split(" > ")) or "(no title)"
            yield element("h3", f"Page {titles}" if summary.by == "page" else titles, dir="auto")
        rows = (_listed(summary, at, name, at in shown, at not in listed) for at in places)
        yield element("ol", *(Markup(f"{row}\n") for row in rows), class_="summary")
        listed |= set(places)


def _listed(summary: DocumentSummary, at: int, name: str, linked: bool, first: bool) -> Markup:
    """A sentence, known on the page by its number in the document's summary."""
    row, number = summary.sentences[at], at + 1
    inside = element("bdi", row.text, dir="auto")
    text = element("a", inside, href=f"#{name}-s{number}") if linked else inside
    where = element("span", _place(row), class_="place")
    return element("li", text, " ", where, value=number, id=f"{name}-l{number}" if first else None)


def _place(row: SentenceRow) -> str:
    parts = [] if row.file is None else [row.file]
    if row.section:
        parts.append(" › ".join(row.section.split(" > ")))
    if row.page is not None:
        label = "" if row.page_label in (None, str(row.page)) else f" ({row.page_label})"
        parts.append(f"page {row.page}{label}")
    return " · ".join([*parts, row.span, f"rank {row.rank}"])


def _context(summary: DocumentSummary, context: Context, name: str) -> Markup:
    pieces: list[Markup] = [Markup("…" if context.cut_before else "")]
    at = 0
    for place in context.sentences:
        row, number = summary.sentences[place], place + 1
        start, end = (row.start or 0) - context.start, (row.end or 0) - context.start
        pieces.append(_paragraphs(context.text[at:start]))
        pieces.append(element("mark", context.text[start:end], id=f"{name}-s{number}", title=_place(row)))
        pieces.append(element("sup", element("a", number, href=f"#{name}-l{number}")))
        at = end
    pieces += [_paragraphs(context.text[at:]), Markup("…" if context.cut_after else "")]
    text = Markup(f'<p class="text" dir="auto">{"".join(pieces)}</p>')
    return element("article", element("p", _head(summary.sentences[context.sentences[0]]), class_="place"), text)


def _head(row: SentenceRow) -> str:
    """Where a stretch of context lies: what `_place` says without offsets and rank."""
    return " · ".join(_place(row).split(" · ")[:-2])


def _paragraphs(text: str) -> Markup:
    return Markup('</p><p class="text" dir="auto">'.join(map(escaped, _PARAGRAPH.split(text))))


def _source(summary: DocumentSummary) -> Markup:
    documents = summary.documents or (summary,)
    lines = []
    for one in documents:
        facts = [f"{one.length:,} code points", f"{100 * one.coverage:.4g} % read", f"sha256 of the text {one.sha256}"]
        facts += [] if one.file_sha256 is None else [f"of the file {one.file_sha256}"]
        facts += [] if one.extractor is None else [f"read by {one.extractor}"]
        lines.append(element("p", "Source: ", element("bdi", f"{one.file} ({one.id})"), f", {', '.join(facts)}."))
    says = "Numbers are code points of that text, first and one past the last. longseq verify proves each sentence."
    return element("footer", *lines, *([] if summary.method == GENERATED else [element("p", says)]))
