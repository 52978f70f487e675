"""`summary.md` and `summary.html`: a section for each document, written as they come, so that none is held."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TextIO

from longseq.formats.markdown import escape
from longseq.report import document_page
from longseq.report.document import document_markdown
from longseq.report.page import Markup, element, page
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

STYLES = ("md", "html")


class Pages:
    """Sections wait on disk until they are asked for, in one style or several; use it as a context manager."""

    def __init__(self, styles: Iterable[str] = STYLES):
        self._sections = {style: _spool() for style in styles}
        self._contents = _spool()
        self._title = ""
        self.count = 0
        """Documents so far."""

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for spool in (*self._sections.values(), self._contents):
            spool.close()

    def dna(self, summary: RecordSummary) -> None:
        """DNA has tables instead."""

    def document(self, summary: DocumentSummary) -> None:
        self.count += 1
        if "md" in self._sections:
            self._sections["md"].write(("\n" if self.count > 1 else "") + document_markdown(summary))
        if "html" in self._sections:
            title = document_page.title_of(summary)
            self._title = self._title or title
            self._sections["html"].write(document_page.document_section(summary, self.count) + "\n")
            self._contents.write(element("li", element("a", title, href=f"#d{self.count}", dir="auto")) + "\n")

    def save(self, folder: Path) -> None:
        """A file of each style, if there was a document."""
        for style in self._sections if self.count else ():
            with open(folder / f"summary.{style}", "w", encoding="utf-8", errors="backslashreplace") as file:
                self.write(style, file)

    def write(self, style: str, file: TextIO, views: Iterable[tuple[str, str]] = ()) -> None:
        """All sections in one style, then plain text of other inputs under their names."""
        sections = self._sections[style]
        sections.seek(0)
        if style == "md":
            shutil.copyfileobj(sections, file)
            file.writelines(f"# {escape(name)}\n\n```text\n{body}\n```\n" for name, body in views)
        else:
            many = f"Summary of {self.count:,} documents" if self.count else "Summary"
            title = self._title if self.count == 1 else many
            file.writelines(page(title, self._body(sections, views), document_page.STYLE))

    def _body(self, sections: TextIO, views: Iterable[tuple[str, str]]) -> Iterator[str]:
        if self.count > 1:
            self._contents.seek(0)
            yield "<nav>\n<ol>\n"
            yield from self._contents
            yield "</ol>\n</nav>\n"
        yield from sections
        for name, body in views:
            yield element("section", element("h2", name), Markup("\n"), element("pre", body)) + "\n"


def _spool() -> TextIO:
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace", newline="")
