"""PDF, page by page: its text in reading order, its outline as sections, and which pages have no text to be read."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream
from longseq.formats.documents import alone, ocr, seekable
from longseq.formats.known import document_name
from longseq.formats.pdf.garbled import garbled
from longseq.formats.pdf.headings import Headings
from longseq.formats.pdf.order import Line, ordered
from longseq.formats.pdf.paragraphs import Joiner, Paragraph
from longseq.formats.pdf.pdfium import PdfiumFile, Sheet, Title
from longseq.formats.pdf.running import without_running
from longseq.formats.pdf.second import SecondReader
from longseq.formats.pdf.weight import PAGE, Damaged, Heavy
from longseq.records import Layout, Mark, Page, Record, Unread

VERSION = 2
"""Raised whenever the same file gives another text."""
TITLED = 3
"""Pages on one of which the title stands."""
STAMPED = 100
"""Letters; a page with fewer, under a picture that covers half of it, is a scan with a stamp on it."""
FREE, EXPANSION = 2 * PAGE, 60
"""Bytes that pages may draw at first, and for each byte of the file; text packs to a tenth of itself at best."""
_LETTERS = re.compile(r"[\W_]+")
_NUMBERING = re.compile(r"\s*(?:(?:chapter|section|part|appendix)\s+)?(?:[\divxlc]+|[a-z])(?:\.\d+)*[.:)]?\s+", re.I)


def records(stream: ByteStream, *, format: str = "pdf", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """The one document of a file. A paragraph is a line of its text; heads and feet of pages are left out.

    The record's description is the title that the file gives, where one of its first pages shows it: many a file keeps
    another one's. Its layout names sections (from the outline, or by the size of letters), pages, and pages that could
    not be read. Notes say `running_lines` (heads and feet left out) and `blank_pages`.

    Raises:
        InputError: no PDF that any of the two readers opens, or one that asks for a password.
    """
    with ExitStack() as opening:
        file = opening.enter_context(seekable(stream))
        source = Path(stream.source) if stream.container == "plain" and stream.size is not None else file
        document = _Document(source, place(stream.source))
        opening.callback(document.close)
        opened = opening.pop_all()  # the pieces' to close: a record outlives its reader
        record = Record(
            id=document_name(stream.source),
            kind="document",
            source=stream.source,
            index=0,
            pieces=iter(()),
            description=document.title(),
            notes={"format": format},
            layout=document.layout,
        )
    return alone(record, _pieces(document, record, stream, opened))


def _pieces(document: _Document, record: Record, stream: ByteStream, opened: ExitStack) -> Iterator[str]:
    with opened:
        yield from document.text()
        record.truncated = stream.truncated
        record.notes = {**record.notes, **document.notes}


class _Document:
    """A PDF on its way to text."""

    def __init__(self, source: Path | BinaryIO, where: str):
        self._source, self._where = source, where
        self._first: PdfiumFile | None = None
        self._second: SecondReader | None = None
        self._refused: Exception | None = None
        self._size = source.stat().st_size if isinstance(source, Path) else source.seek(0, os.SEEK_END)
        self._drawn = 0
        try:
            self._first = PdfiumFile(source, where)
        except InputError as error:
            try:
                self._other()
            except Exception:
                raise error from None
        reader = self._first or self._other()
        if reader.pages == 0:
            raise InputError("holds no page", where=where)
        self.layout = Layout(extractor=f"longseq.pdf/{VERSION}, {reader.version}", pages_total=reader.pages)
        self.notes: dict[str, str | int] = {}
        self._titles: dict[int, list[Title]] = defaultdict(list)
        for title in self._first.outline() if self._first else ():
            self._titles[title.page].append(title)
        self.layout.sectioned = bool(self._titles)
        self._joiner, self._headings, self._length = Joiner(), Headings(), 0
        self._held: Paragraph | None = None  # the last of a page, which may go on on the next
        self._turns: list[tuple[int, int]] = []  # pages that begin inside it, and where

    def close(self) -> None:
        if self._first:
            self._first.close()

    def title(self) -> str:
        """As the file says it, if one of its first pages says it too."""
        title = self._first.title() if self._first else ""
        bare = _LETTERS.sub("", title.casefold())
        for index in range(min(TITLED, self.layout.pages_total)) if bare else ():
            if self._weighed(index)[1]:
                continue
            try:
                lines = ordered(self._first.sheet(index).fragments)  # type: ignore[union-attr]
            except (InputError, Heavy):
                continue
            if bare in _LETTERS.sub("", "".join(line.text for line in lines).casefold()):
                return title
        return ""

    def text(self) -> Iterator[str]:
        """A piece for each page or so; fills the layout ahead of it."""
        running = 0
        for body in without_running(self._pages()):
            running += body.dropped
            parts = self._joiner.paragraphs(body.lines)
            titles = self._titles.pop(body.page, [])
            out = [*self._begin(body.page, parts)]
            for k, paragraph in enumerate(parts):
                if k == len(parts) - 1 and paragraph.open and self._held is None:
                    self._held, self._turns = paragraph, []
                else:
                    out.append(self._set(paragraph, titles))
            for title in titles:  # not found in the page's text
                self.layout.marks.append(Mark(self._length, "", title.depth, title.text))
            yield "".join(out)
        yield "".join(self._release())
        if running:
            self.notes["running_lines"] = running
        if not self._length:
            whys = sorted({page.why for page in self.layout.unread})
            raise InputError(
                where=self._where,
                expected="pages with text",
                found=f"{len(self.layout.unread)} without ({', '.join(whys)})" if whys else "blank pages",
                remedy=ocr(whys),
            )

    def _begin(self, index: int, parts: list[Paragraph]) -> Iterator[str]:
        """Begin a page: its first paragraph goes to the one that is held, if it carries that on; what is let go."""
        first = next((i for i, part in enumerate(parts) if part.part != "note"), None)
        if self._held is None or first is None or not self._joiner.goes_on(self._held, parts[first]):
            yield from self._release()
            self._turn(index, self._length)
            return
        joined = self._joiner.join(self._held.text, parts[first].text)
        self._turns.append((index, len(joined) - len(parts[first].text)))
        self._held = parts.pop(first)._replace(text=joined)
        if len(parts) > first:  # more text: the paragraph ends on this page
            yield from self._release()

    def _release(self) -> Iterator[str]:
        """Set the held paragraph, and where in it pages begin."""
        if self._held is not None:
            for index, offset in self._turns:
                self._turn(index, self._length + offset)
            paragraph, self._held = self._held, None
            yield self._set(paragraph, [])

    def _turn(self, index: int, start: int) -> None:
        self.layout.pages.append(Page(start, index + 1, self._label(index)))

    def _set(self, paragraph: Paragraph, titles: list[Title]) -> str:
        """The paragraph as it stands in the text; a heading where it is one of the page's titles still to come."""
        marks, part = self.layout.marks, paragraph.part
        at = next((i for i, title in enumerate(titles) if _same(title.text, paragraph.text)), None)
        if at is not None:
            for title in titles[:at]:
                marks.append(Mark(self._length, "", title.depth, title.text))
            marks.append(Mark(self._length, "heading", titles[at].depth, titles[at].text))
            del titles[: at + 1]
        elif not self.layout.sectioned and (depth := self._headings.depth(paragraph)):
            marks.append(Mark(self._length, "heading", depth, paragraph.text))
        elif part != (marks[-1].part if marks else ""):
            marks.append(Mark(self._length, part))
        text = paragraph.text + "\n\n"
        self._length += len(text)
        return text

    def _pages(self) -> Iterator[tuple[int, list[Line]]]:
        """Index and lines of the pages that can be read; the others are listed in the layout."""
        for index in range(self.layout.pages_total):
            lines, why = self._lines(index)
            if why:
                self.layout.unread.append(Unread(index + 1, self._label(index), why))
            else:
                self._headings.see(lines)
                yield index, lines

    def _lines(self, index: int) -> tuple[list[Line], str]:
        """Of a page, and why there are none that can be trusted."""
        weight, why = self._weighed(index)
        self._drawn += weight
        if self._drawn > max(FREE, EXPANSION * self._size):
            raise InputError(
                where=self._where,
                expected=f"pages that unpack to at most {EXPANSION} times the size of the file",
                found=f"more at page {index + 1}",
                remedy="extract its text first: pdftotext IN OUT",
            )
        if why:
            return [], why
        sheet: Sheet | None = None
        if self._first is not None:
            try:
                sheet = self._first.sheet(index)
            except InputError:
                sheet = None
            except Heavy:
                return [], "large"
            if sheet is not None:
                if (sheet.letters < STAMPED and sheet.image > 0.5) or (not sheet.letters and sheet.drawn):
                    return [], "image"
                if sheet.letters:
                    lines = ordered(sheet.fragments)
                    text = "\n".join(line.text for line in lines)
                    return (lines, "garbled" if garbled(text, sheet.words, sheet.unmapped) else "")
        try:
            lines = self._other().lines(index)
        except Exception:
            return [], "damaged"
        if not lines:
            self.notes["blank_pages"] = int(self.notes.get("blank_pages", 0)) + 1
        elif garbled("\n".join(line.text for line in lines), 1, 0):
            return [], "garbled"
        return lines, ""

    def _weighed(self, index: int) -> tuple[int, str]:
        """Bytes that a page draws, and why it is not to be read."""
        try:
            return self._other().weight(index), ""
        except Damaged:
            return 0, "damaged"
        except Heavy:
            return PAGE, "large"
        except Exception:  # pypdf cannot open what PDFium can
            return 0, ""

    def _other(self) -> SecondReader:
        if self._refused is not None:  # a file is searched once for what it may hold, not at every page
            raise self._refused
        if self._second is None:
            try:
                self._second = SecondReader(self._source, self._where)
            except Exception as error:
                self._refused = error
                raise
        return self._second

    def _label(self, index: int) -> str:
        return self._first.label(index) if self._first else str(index + 1)


def _same(title: str, text: str) -> bool:
    """Whether a paragraph is that title, numbers in front of either left aside."""
    if len(text) > 2 * len(title) + 40:
        return False
    bare = {_LETTERS.sub("", form.casefold()) for form in (title, _NUMBERING.sub("", title, count=1))}
    return not bare.isdisjoint(_LETTERS.sub("", form.casefold()) for form in (text, _NUMBERING.sub("", text, count=1)))
