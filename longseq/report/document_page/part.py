"""The part of `report.html` that has the documents: their sections wait on disk, so that none is held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType

from longseq.log import count
from longseq.report.document_page.along import worth_drawing
from longseq.report.document_page.places import link, minutes, title_of
from longseq.report.document_page.section import STYLE, document_section, section_contents
from longseq.report.page import Markup, element
from longseq.report.pages import spool
from longseq.report.report_page import Facts
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary
from longseq.tokens.reading import CHINESE, JAPANESE, WORDS

FIGURES = 24
"""Documents with a figure of what lies along them: each takes a browser time to draw."""
ROOM = 4_000_000
"""Bytes of sections; documents that come when they are used up have none."""
LISTED, OPEN = 2000, 60
"""Documents that are listed at the top, and that are so without being asked for."""


class DocumentPart:
    """Told of summaries as they come; use it as a context manager (`longseq.report.report_page.Part`)."""

    style = STYLE

    def __init__(self) -> None:
        self._sections, self._contents = spool(), spool()
        self._title = ""
        self._inner: list[tuple[str, str]] = []
        self._drawn = self._shown = self._bytes = 0
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
        room = self._bytes < ROOM
        if room:
            drawn = self._drawn < FIGURES and worth_drawing(summary.salience)
            section = document_section(summary, self.count, drawn)
            self._inner = self._inner or section_contents(summary, self.count, drawn)
            self._sections.write(section)
            self._drawn, self._shown = self._drawn + drawn, self.count
            self._bytes += len(section.encode(errors="backslashreplace"))
        if self.count <= LISTED:
            name = link(f"d{self.count}", title, dir="auto") if room else element("bdi", title)
            what = f"{count(summary.words, 'word')}, {minutes(summary.reading_minutes)}"
            self._contents.write(element("li", name, " ", element("span", what, class_="place")) + "\n")

    def title(self) -> str:
        return self._title if self.count == 1 else f"Summary of {count(self.count, 'document')}"

    def contents(self, facts: Facts) -> Iterable[tuple[str, str]]:
        places = self._inner if self.count == 1 else [("documents", count(self.count, "document"))]
        return [*places, ("documents-notes", "What the figures mean")]

    def sections(self, facts: Facts) -> Iterator[Markup]:
        self._sections.seek(0)
        if self.count > 1:
            yield from self._list()
        elif len(facts.sources) == 1:  # the page's own title is the document's
            head = next(self._sections)
            yield Markup(head[: head.index("<h2")] + element("h2", "Summary") + "\n")
        yield from map(Markup, self._sections)
        yield _notes()

    def _list(self) -> Iterator[Markup]:
        self._contents.seek(0)
        yield Markup('<section id="documents">\n<h2>Documents</h2>\n')
        yield Markup("<details>\n" if self.count > OPEN else "<details open>\n")
        yield element("summary", count(self.count, "document"))
        yield Markup("<ol>\n")
        yield from map(Markup, self._contents)
        yield Markup("</ol>\n</details>\n")
        if self._shown < self.count:
            more = f"The first {self._shown:,} are on this page; all are in summary.md and summary.json."
            yield Markup(element("p", more, class_="facts warn") + "\n")
        yield Markup("</section>\n")


def _notes() -> Markup:
    notes = [
        "Places are code points of the text that was read, first and one past the last, from 0. Quotations are "
        "verbatim, and longseq verify proves each, unless a model wrote them, which is said.",
        "Worth is what decides which sentence comes next: how central it is among the others, its wording, its place, "
        "its length, and the title's words in it; where something was asked, how well it answers. Then what repeats "
        "a sentence that was chosen is passed over. Rank 1 was chosen first.",
        f"Reading time: {WORDS} words a minute, which adults read silently in English (Brysbaert 2019, Journal of "
        f"Memory and Language 109); {CHINESE} letters of Chinese, {JAPANESE} of Japanese, read aloud "
        "(Trauzettel-Klosinski and Dietz 2012, IOVS 53).",
    ]
    lines = (Markup(f"{element('p', note, class_='facts')}\n") for note in notes)
    return Markup(
        element("section", element("h2", "What the figures mean"), Markup("\n"), *lines, id="documents-notes") + "\n"
    )
