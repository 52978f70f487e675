"""An extractive summary of one document of any length, in one pass over its text.

The text streams through once: to disk, so that chosen sentences can be read back as they are; to sentences; to counts
of their terms. Ranking and choice read the counts, never the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longseq.config import require
from longseq.log import NullProgress, Progress
from longseq.records import Layout, Record, Unread
from longseq.results.document import DocumentSummary, SentenceRow, UnreadPage, unread_pages
from longseq.tasks.document.candidates import ASIDES, REST, Candidates, find_sentences
from longseq.tasks.document.lexrank import DAMPING, degrees, lexrank
from longseq.tasks.document.manuscript import Manuscript
from longseq.tasks.document.select import Budget, select
from longseq.tasks.document.texts import TextFolder
from longseq.tasks.document.vectors import TermSpool
from longseq.tokens.words import count_words, terms


@dataclass(frozen=True, kw_only=True)
class DocumentConfig:
    """How sentences are found and ranked."""

    language: str = "en"
    """ISO 639-1 code of the document: after which abbreviations a stop ends no sentence."""
    damping: float = DAMPING
    """Probability of following a similarity rather than starting anew, in [0, 1)."""

    def __post_init__(self):
        require(0 <= self.damping < 1, "document.damping", self.damping, "0 <= damping < 1")


def summarize_document(
    record: Record,
    budget: Budget | None = None,
    *,
    config: DocumentConfig | None = None,
    progress: Progress | None = None,
    texts: TextFolder | None = None,
    spool_folder: str | Path | None = None,
) -> DocumentSummary:
    """The sentences of a document that stand for most of it within a budget, in document order.

    Args:
        record: A document; its pieces are walked once.
        budget: What the summary may hold: 10 sentences unless told otherwise.
        config: How sentences are found and ranked.
        progress: Told of every code point read; started and finished by the caller.
        texts: Where the text is kept, if anywhere.
        spool_folder: Where the text and the counts wait; None is the system's place for temporary files.

    Raises:
        InputError: a fault in the record.
        LongseqError: the spool cannot be written.
    """
    budget, config = budget or Budget(), config or DocumentConfig()
    with Manuscript(spool_folder) as text, TermSpool(spool_folder) as spool:
        candidates = Candidates()
        for found in find_sentences(_read(record, text, progress or NullProgress()), config.language, record.layout):
            candidates.add(found, count_words(found.sentence.text))
            spool.add(terms(found.sentence.text))
        tier, keep = _strictest(candidates, spool)
        rows = np.flatnonzero(keep)
        words = np.array(candidates.words, np.int64)
        with spool.vectors(keep) as vectors:
            degree = degrees(vectors)
            scores = lexrank(vectors, degree, config.damping)
            shared = 1.0 - 1.0 / degree  # how much of a sentence's similarity is with others: 0 for what stands alone
            chosen = select(vectors, scores * shared, words[rows], budget, int(words.sum()))
        base = _first_byte(record)
        quoted = [
            _quote(candidates, text, int(rows[row]), rank, float(scores[row]), base, record.layout)
            for rank, row in enumerate(chosen, start=1)
        ]
        counted = np.array(candidates.tier, np.int8) < REST
        wrapped = int((np.array(candidates.wrapped, bool) & counted).sum())
        return DocumentSummary(
            file=record.source,
            index=record.index,
            id=record.id,
            description=record.description,
            length=len(text),
            words=int(words.sum()),
            sentences_total=int(counted.sum()),
            candidates=len(rows),
            wrapped=wrapped,
            sha256=text.sha256(),
            truncated=record.truncated,
            coverage=_coverage(record, len(text)),
            text_file=None if texts is None else texts.save(record, text),
            extractor=None if record.layout is None else record.layout.extractor,
            pages=None if record.layout is None else record.layout.pages_total or None,
            unread=() if record.layout is None else tuple(map(_unread, record.layout.unread)),
            budget=budget.describe(),
            summary_words=int(words[rows[chosen]].sum()),
            sentences=tuple(sorted(quoted, key=lambda row: row.start)),
            remarks=(
                *_remarks(candidates, tier, wrapped, words[rows], chosen, budget),
                *_remarks_of_reading(record),
            ),
            notes=dict(record.notes),
        )


def _strictest(candidates: Candidates, spool: TermSpool) -> tuple[int, np.ndarray]:
    """The first tier that holds anything, and its (rows,) bool different sentences."""
    for tier, let_in in candidates.tiers():
        keep = spool.distinct(let_in)
        if keep.any():
            return tier, keep
    return REST, np.zeros(len(spool), bool)


def _read(record: Record, text: Manuscript, progress: Progress) -> Iterator[str]:
    pieces: Iterable[str] = record.pieces  # type: ignore[assignment]
    for piece in pieces:
        text.append(piece)
        yield piece
        progress.advance(len(piece))


def _coverage(record: Record, length: int) -> float:
    """Share of the text, where the file says how long it is, times the share of the pages."""
    layout = record.layout
    read = length / max(record.length or 0, length) if length or record.length else 1.0
    if layout is None or not layout.pages_total:
        return read
    return read * (layout.pages_total - len(layout.unread)) / layout.pages_total


def _unread(page: Unread) -> UnreadPage:
    return UnreadPage(page=page.number, label=page.label, why=page.why)


def _remarks_of_reading(record: Record) -> Iterator[str]:
    if bad := record.notes.get("bad_bytes"):
        bytes_are = "byte is" if bad == 1 else "bytes are"
        yield f"{bad} {bytes_are} no {record.notes['encoding']} and stand as \ufffd"
    if record.layout is not None and record.layout.unread:
        pages = unread_pages([_unread(page) for page in record.layout.unread])
        yield f"{len(record.layout.unread)} of {record.layout.pages_total} pages could not be read: {pages}"


def _first_byte(record: Record) -> int | None:
    """Byte of the file at which the text begins; None where the text is not the file's bytes as they stand."""
    notes = record.notes
    plain = notes.get("format") in ("text", "markdown", "rst") and notes.get("encoding") == "utf-8"
    plain = plain and "bad_bytes" not in notes
    return int(record.notes.get("bom", 0)) if plain else None


def _quote(
    candidates: Candidates,
    text: Manuscript,
    row: int,
    rank: int,
    score: float,
    base: int | None,
    layout: Layout | None,
) -> SentenceRow:
    start, end = candidates.start[row], candidates.end[row]
    passage = text.read(start, end)
    page = None if layout is None else layout.page_at(start)
    return SentenceRow(
        rank=rank,
        start=start,
        end=end,
        byte_start=None if base is None else base + passage.byte_start,
        byte_end=None if base is None else base + passage.byte_end,
        page=None if page is None else page.number,
        page_label=None if page is None else page.label,
        section=candidates.sections[candidates.section[row]],
        score=score,
        wrapped=bool(candidates.wrapped[row]),
        text=passage.text,
    )


def _remarks(
    candidates: Candidates, tier: int, wrapped: int, words: np.ndarray, chosen: list[int], budget: Budget
) -> Iterator[str]:
    if not len(words):
        yield "there is no sentence in it"
    elif not chosen:
        yield f"no sentence fits {budget.describe()}: the shortest has {int(words.min())} words"
    if len(words) and tier == REST:
        yield "there is no prose in it: headings, code and tables were quoted from"
    elif len(words) and tier == ASIDES and candidates.listed:
        yield "there is hardly any prose in it: lists and quotations were quoted from too"
    if wrapped:
        yield f"{wrapped} of its sentences are pieces of stretches without a sentence end"
