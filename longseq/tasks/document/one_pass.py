"""A summary of a stream of which nothing is kept but the best sentences so far: for pipes that are long or never end.

Sentences are taken a block at a time. Each block is ranked together with the best of what came before, and the best of
both are kept; what is left at the end is ranked once more, and the budget is filled from it. So a sentence is compared
with its own block and with what stood out before it, never with the whole text: memory is that of a block, however
long the stream, and the choice is not the one that the whole text would give.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longseq.log import NullProgress, Progress, Spot
from longseq.records import Record
from longseq.results.document import ONE_PASS, DocumentSummary, SentenceRow
from longseq.tasks.document.candidates import BACK, REST, strictest
from longseq.tasks.document.collection import Reader, facts_of, remarks_of_reading
from longseq.tasks.document.cues import Cue
from longseq.tasks.document.priors import Outline
from longseq.tasks.document.ranking import judge, rank
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.rows import UNWANTED, WANTED, WRAPPED, Rows
from longseq.tasks.document.select import Budget, select
from longseq.tasks.document.vectors import TermSpool
from longseq.tokens.reading import ReadingTime

BLOCK = 1000
"""Sentences ranked at once, besides those kept."""
KEPT = 200
"""Sentences kept at least; or twice as many as the summary may hold, if that is more."""


class _Held(NamedTuple):
    """A sentence that may be quoted."""

    number: int
    start: int
    text: str
    words: int
    section: str
    paragraph: int
    terms: list[str]
    marks: tuple[int, int, int, float]
    """Fields `cues`, `tier`, `asked` and `title` of a row."""


def summarize_passing(record: Record, request: DocumentRequest, progress: Progress | None = None) -> DocumentSummary:
    """As `summarize_document`, in memory that does not depend on the length of the text, and without a file.

    Raises:
        InputError: a fault in the record.
    """
    passing = _Passing(record, request)
    for item in passing.sentences(progress or NullProgress()):
        passing.add(item)
    chosen = passing.finish()
    facts = facts_of(record, passing.length, passing.reading, passing.digest.hexdigest())
    rows = tuple(_quote(record, held, rank, score, chosen) for held, rank, score in chosen)
    quoted = ReadingTime()
    for held, _, _ in chosen:
        quoted.add(held.text, held.words)
    return DocumentSummary(
        **vars(facts),
        method=ONE_PASS,
        sentences_total=passing.counted,
        candidates=passing.candidates,
        wrapped=passing.wrapped,
        budget=request.budget.describe(),
        summary_words=quoted.words,
        summary_reading_minutes=quoted.minutes,
        dangling=sum(row.dangling for row in rows),
        sentences=rows,
        remarks=(
            *passing.without(),
            f"read in one pass: each sentence was compared with the {BLOCK} around it and the best before",
            *remarks_of_reading(facts),
        ),
    )


class _Passing:
    """The best sentences so far, and a block of new ones."""

    def __init__(self, record: Record, request: DocumentRequest):
        self.record, self.request = record, request
        self.reader = Reader(record, request)
        self.digest = hashlib.sha256()
        self.reading = ReadingTime()
        self.length = self.counted = self.wrapped = self.candidates = 0
        self._excluded = False
        self._best: list[_Held] = []
        self._block: list[_Held] = []
        limit = request.budget.limit(0)
        per = {"words": 10, "characters": 60}.get(request.budget.unit, 1)  # of a short sentence
        self._room = max(KEPT, 2 * (limit // per))

    def sentences(self, progress: Progress) -> Iterator[_Held]:
        for number, (found, terms, words, marks) in enumerate(self.reader.sentences(self._read(progress))):
            span = found.sentence
            yield _Held(number, span.start, span.text, words, found.section, found.paragraph, terms, marks)

    def add(self, held: _Held) -> None:
        _, tier, asked, _ = held.marks
        self.reading.add(held.text, held.words)
        self.counted += tier < REST
        self.wrapped += tier < REST and bool(asked & WRAPPED)
        self._excluded |= bool(asked & UNWANTED)
        if asked & UNWANTED or (tier >= BACK and not asked & WANTED):
            return
        self.candidates += tier < REST
        self._block.append(held)
        if len(self._block) >= BLOCK:
            budget = Budget(amount=self._room)
            self._best = [held for held, _, _ in self._choose(budget)]
            self._block = []

    def without(self) -> Iterator[str]:
        """Why there is nothing to quote, if so."""
        if not self.candidates:
            yield "every sentence in it is excluded" if self._excluded else "there is no sentence in it"

    def finish(self) -> list[tuple[_Held, int, float]]:
        """Sentences of the summary with rank and centrality, in order of the text."""
        return self._choose(self.request.budget)

    def _choose(self, budget: Budget) -> list[tuple[_Held, int, float]]:
        pool = [*self._best, *self._block]
        sections = list(dict.fromkeys(held.section for held in pool))
        number = {section: at for at, section in enumerate(sections)}
        words = np.array([held.words for held in pool], np.int32)
        with TermSpool() as spool, Rows() as rows:
            for held in pool:
                place = (held.start, len(held.text), held.words, number[held.section], held.paragraph, 0)
                rows.add((*place, *held.marks))
                spool.add(held.terms)
            wanted = rows.column("asked") & WANTED > 0
            keep = spool.distinct(np.ones(len(pool), bool))
            for _, let_in in strictest(rows.column("tier"), words):
                keep = spool.distinct(let_in | wanted)
                if keep.any():
                    break
            kept = np.flatnonzero(keep)
            with spool.vectors(keep) as vectors:
                judged = judge(vectors, rows, keep, Outline(sections), self.request)
                score, worth = rank(vectors, judged, words[kept], self.request)
                first = np.flatnonzero(wanted[kept])
                costs = budget.costs(words[kept], rows.column("length", keep))
                found = select(vectors, worth, costs, budget.limit(0), first[np.argsort(-worth[first])].tolist())
        ranked = [(pool[kept[row]], rank, float(score[row])) for rank, row in enumerate(found, start=1)]
        return sorted(ranked, key=lambda one: one[0].number)

    def _read(self, progress: Progress) -> Iterator[str]:
        pieces: Iterable[str] = self.record.pieces  # type: ignore[assignment]
        spot = Spot(self.record.id, self.record.length)
        for piece in pieces:
            self.length += len(piece)
            self.digest.update(piece.encode("utf-8", "surrogatepass"))
            yield piece
            progress.advance(len(piece), record=spot.on(len(piece)))


def _quote(
    record: Record, held: _Held, rank: int, score: float, chosen: Sequence[tuple[_Held, int, float]]
) -> SentenceRow:
    page = None if record.layout is None else record.layout.page_at(held.start)
    cues, _, asked, _ = held.marks
    follows = any(other.number == held.number - 1 for other, _, _ in chosen)
    return SentenceRow(
        rank=rank,
        start=held.start,
        end=held.start + len(held.text),
        page=None if page is None else page.number,
        page_label=None if page is None else page.label,
        section=held.section,
        score=score,
        wrapped=bool(asked & WRAPPED),
        dangling=bool(cues & Cue.DANGLES) and not follows,
        text=held.text,
    )
