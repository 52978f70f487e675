"""Documents on their way in: each streams through once, and leaves its text, its sentences and their terms on disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from longseq.errors import InputError, place
from longseq.formats.digest import same_digest
from longseq.formats.documents import ocr
from longseq.log import NullProgress, Progress, Spot
from longseq.records import Layout, Record, Unread
from longseq.results.document import DocumentFacts, UnreadPage, unread_pages
from longseq.tasks.document.candidates import BACK, Found, Tiers, find_sentences
from longseq.tasks.document.cues import cues
from longseq.tasks.document.manuscript import Manuscript
from longseq.tasks.document.query import index_terms, lone_letters
from longseq.tasks.document.request import DocumentRequest, compiled
from longseq.tasks.document.rows import UNWANTED, WANTED, WRAPPED, Rows
from longseq.tasks.document.texts import TextFolder
from longseq.tasks.document.vectors import TermSpool
from longseq.tokens.reading import ReadingTime
from longseq.tokens.words import count_words

TITLE_WORD = 4
"""Letters of a title's word that counts; of a script without spaces, any pair of letters does."""
GONE = BACK + 1
"""Tier of sentences of a document that could not be read to its end."""


class Reader:
    """One document's sentences with what can be told of each when it passes."""

    def __init__(self, record: Record, request: DocumentRequest):
        self.record, self.request = record, request
        self.tiers = Tiers()
        self._must = [compiled(pattern) for pattern in request.must_include]
        self._not = [compiled(pattern) for pattern in request.exclude]
        self._title, self._root = title_words(record.description), ""

    def sentences(self, pieces: Iterable[str]) -> Iterator[tuple[Found, list[str], int, tuple[int, int, int, float]]]:
        """Each with its terms, its words and the fields `cues`, `tier`, `asked` and `title` of its row."""
        fold, letters = bool(self.request.queries), lone_letters(self.request.queries)
        for found in find_sentences(pieces, self.request.language, self.record.layout):
            text = found.sentence.text
            words, terms = count_words(text), index_terms(text, fold, letters)
            asked = WRAPPED if found.sentence.wrapped else 0
            asked |= WANTED if _matches(self._must, text) else 0
            asked |= UNWANTED if _matches(self._not, text) else 0
            yield found, terms, words, (cues(text), self.tiers.tier(found, words), asked, self._told(found, terms))

    def _told(self, found: Found, terms: Sequence[str]) -> float:
        """Share of the title's words that a sentence repeats; without a title, the outermost heading is one."""
        if not self.record.description and not self._root and found.section:
            self._root = found.section.split(" > ")[0]
            self._title = title_words(self._root)
        return len(self._title.intersection(terms)) / len(self._title) if self._title else 0.0


def title_words(title: str) -> frozenset[str]:
    """Terms of a title that say what it is about."""
    return frozenset(
        term for term in index_terms(title) if len(term) >= TITLE_WORD or (len(term) > 1 and term[0] > "\u0e00")
    )


def _matches(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    return bool(patterns) and any(pattern.search(text) for pattern in patterns)


class Collection:
    """One document or many. Use as a context manager: what they leave are temporary files."""

    def __init__(self, request: DocumentRequest, folder: str | Path | None = None):
        self.request = request
        self.text, self.spool, self.rows = Manuscript(folder), TermSpool(folder), Rows(folder)
        self.sections: list[str] = []
        self.documents: list[DocumentFacts] = []
        self.layouts: list[Layout | None] = []
        self.starts: list[int] = []
        """Code point of `text` at which each document begins."""
        self.listed = 0
        """Items and quotations among the sentences."""
        self._demoted: list[tuple[int, int, int]] = []  # rows, and the tier they have in truth

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self.text, self.spool, self.rows):
            file.__exit__()

    def add(self, record: Record, progress: Progress | None = None, texts: TextFolder | None = None) -> DocumentFacts:
        """Read a document to its end.

        Raises:
            InputError: a fault in the record, of which nothing is kept.
            LongseqError: the spool cannot be written.
        """
        reader, start, first = Reader(record, self.request), len(self.text), len(self.rows)
        self.text.begin()
        number, reading = len(self.documents), ReadingTime()
        try:
            pieces = self._read(record, progress or NullProgress())
            for found, terms, length, (mark, tier, asked, title) in reader.sentences(pieces):
                if not self.sections or self.sections[-1] != found.section:
                    self.sections.append(found.section)
                place = (start + found.sentence.start, found.sentence.end - found.sentence.start, length)
                where = (len(self.sections) - 1, found.paragraph, number)
                self.rows.add((*place, *where, mark, tier, asked, title))
                self.spool.add(terms)
                reading.add(found.sentence.text, length)
        except InputError:
            self._demoted.append((first, len(self.rows), GONE))
            raise
        self._demoted.append((first, first + reader.tiers.begun, BACK))
        self.listed += reader.tiers.listed
        facts = self._facts(record, start, reading, texts)
        self.documents.append(facts)
        self.layouts.append(record.layout)
        self.starts.append(start)
        return facts

    def tiers(self) -> np.ndarray:
        """(rows,) uint8; what stands before the line with which a text begins is back matter."""
        tiers = self.rows.column("tier")
        for first, last, tier in self._demoted:
            tiers[first:last] = tier
        return tiers

    def _read(self, record: Record, progress: Progress) -> Iterator[str]:
        pieces: Iterable[str] = record.pieces  # type: ignore[assignment]
        spot = Spot(record.id, record.length)
        for piece in pieces:
            self.text.append(piece)
            yield piece
            progress.advance(len(piece), record=spot.on(len(piece)))

    def _facts(self, record: Record, start: int, reading: ReadingTime, texts: TextFolder | None) -> DocumentFacts:
        length = len(self.text) - start
        kept = None if texts is None else texts.save(record, self.text, start)
        return facts_of(record, length, reading, self.text.sha256(), kept, None if texts is None else texts.named)


def facts_of(
    record: Record,
    length: int,
    reading: ReadingTime,
    sha256: str,
    text_file: str | None = None,
    text_folder: str | None = None,
) -> DocumentFacts:
    """What a document that was read to its end is."""
    layout = record.layout
    return DocumentFacts(
        file=record.source,
        index=record.index,
        id=record.id,
        description=record.description,
        length=length,
        words=reading.words,
        reading_minutes=reading.minutes,
        sha256=sha256,
        file_sha256=same_digest(record.source),
        truncated=record.truncated,
        coverage=_coverage(record, length),
        text_file=text_file,
        text_folder=text_folder,
        extractor=None if layout is None else layout.extractor,
        pages=None if layout is None else layout.pages_total or None,
        unread=() if layout is None else tuple(map(_unread, layout.unread)),
        notes=dict(record.notes),
    )


def first_byte(notes: Mapping[str, str | int]) -> int | None:
    """Byte of the file at which a text of these notes begins; None where it is not the file's bytes as they stand."""
    plain = notes.get("format") in ("text", "markdown", "rst") and notes.get("encoding") == "utf-8"
    plain = plain and "bad_bytes" not in notes and "offset" not in notes
    return int(notes.get("bom", 0)) if plain else None


def remarks_of_reading(facts: DocumentFacts) -> Iterator[str]:
    """What of a document could not be read."""
    if bad := facts.notes.get("bad_bytes"):
        bytes_are = "byte is" if bad == 1 else "bytes are"
        yield f"{bad} {bytes_are} no {facts.notes['encoding']} and stand as \ufffd"
    if facts.unread:
        yield f"{len(facts.unread)} of {facts.pages} pages could not be read: {unread_pages(facts.unread)}"


def unread(facts: DocumentFacts) -> InputError:
    """Which pages of a document have no text, and what to do."""
    return InputError(
        where=place(facts.file),
        expected=f"text on its {facts.pages:,} pages",
        found=f"none on {len(facts.unread)}: {unread_pages(facts.unread)}",
        remedy=ocr([page.why for page in facts.unread]),
    )


def _coverage(record: Record, length: int) -> float:
    """Share of the text, where the file says how long it is, times the share of the pages."""
    layout = record.layout
    read = length / max(record.length or 0, length) if length or record.length else 1.0
    if layout is None or not layout.pages_total:
        return read
    return read * (layout.pages_total - len(layout.unread)) / layout.pages_total


def _unread(page: Unread) -> UnreadPage:
    return UnreadPage(page=page.number, label=page.label, why=page.why)
