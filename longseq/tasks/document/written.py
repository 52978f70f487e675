"""A summary in a model's own words: nothing of it is a quotation.

The model learned from pairs of a document and its summary (`longseq train --task seq2seq`); it reads the whole document
through its state, then tells what it makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from longseq.config import require
from longseq.errors import CheckpointError, InputError
from longseq.log import NullProgress, Progress, Spot
from longseq.model import Checkpoint
from longseq.records import Record
from longseq.results.document import GENERATED, DocumentSummary, SentenceRow
from longseq.tasks.document.candidates import REST, find_sentences
from longseq.tasks.document.collection import Reader, facts_of, remarks_of_reading
from longseq.tasks.document.manuscript import Manuscript
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.select import Budget
from longseq.tasks.document.texts import TextFolder
from longseq.tasks.generate import Generator, Sampling
from longseq.tokens.reading import ReadingTime
from longseq.tokens.words import count_words

TOKENS = {"sentences": 800, "words": 16, "ratio": 16, "characters": 2}
"""Tokens drawn at most for each unit of the budget: a model may never come to its end."""
LOOK = 32
"""Tokens between two looks at whether the budget is full."""
PIECE = 1 << 16
"""Code points of the document read at a time."""
_BREAK = re.compile(r"\s|(?<=[\u2e80-\uffef])")


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A model that learned from pairs, ready to summarise."""

    checkpoint: Checkpoint
    name: str
    device: str = "cpu"
    precision: str = "fp32"
    threads: int = 1
    chunk: int | None = None

    def __post_init__(self):
        if getattr(self.checkpoint.tokenizer, "separator", None) is None:
            raise CheckpointError(
                where=self.name,
                expected="a model that learned documents and their summaries from pairs",
                found="one that did not",
                remedy="train one: longseq train PAIRS --task seq2seq",
            )

    @property
    def sha256(self) -> str:
        return self.checkpoint.sha256

    def summary(
        self,
        record: Record,
        request: DocumentRequest | None = None,
        *,
        progress: Progress | None = None,
        texts: TextFolder | None = None,
    ) -> DocumentSummary:
        """What the model tells of a document, within the budget; the likeliest words, so the same every time.

        Raises:
            InputError: a fault in the record, or a letter or word in it that the model never saw.
            ConfigError: a request for what only quotations can give.
        """
        request = request or DocumentRequest()
        asked = request.by or request.together or request.one_pass or request.queries or request.must_include
        require(not asked and not request.exclude, "method", GENERATED, "with a budget only: nothing is chosen")
        with Manuscript() as text:
            reading, counted = ReadingTime(), 0
            reader = Reader(record, request)
            for found, _, length, (_, tier, _, _) in reader.sentences(_read(record, text, progress or NullProgress())):
                reading.add(found.sentence.text, length)
                counted += tier < REST
            limit = request.budget.limit(reading.words)
            told, remark = "", "there is nothing in it"
            if counted:
                told, remark = self._told(record, text, request.budget, limit)
            kept = None if texts is None else texts.save(record, text)
            folder = None if texts is None else texts.named
            facts = facts_of(record, len(text), reading, text.sha256(), kept, folder)
        rows, cut = fitting(told, request.budget, limit)
        written = ReadingTime()
        for row in rows:
            written.add(row, count_words(row))
        return DocumentSummary(
            **vars(facts),
            method=GENERATED,
            model=self.name,
            model_sha256=self.sha256,
            sentences_total=counted,
            candidates=0,
            wrapped=0,
            budget=request.budget.describe(),
            summary_words=written.words,
            summary_reading_minutes=written.minutes,
            sentences=tuple(
                SentenceRow(rank=rank, start=None, end=None, section="", score=None, text=row)
                for rank, row in enumerate(rows, 1)
            ),
            remarks=(
                "not verbatim: a model wrote it, and what it says may not stand in the document",
                *filter(None, (remark, cut)),
                *remarks_of_reading(facts),
            ),
        )

    def _told(self, record: Record, text: Manuscript, budget: Budget, limit: int) -> tuple[str, str]:
        given: dict[str, Any] = {} if self.chunk is None else {"chunk": self.chunk}
        generator = Generator(self.checkpoint, Sampling(temperature=0), precision=self.precision, **given)
        try:
            generator.ask(text.read(at, min(at + PIECE, len(text))).text for at in range(0, len(text), PIECE))
        except InputError as error:
            raise InputError(where=record.where, expected=error.expected, found=error.found) from None
        told, most = "", max(limit, 1) * TOKENS[budget.unit]
        for number, token in enumerate(generator.tokens(most), 1):
            told += token.text
            if number % LOOK == 0 and _cost(_sentences(told)[:-1], budget) >= limit:
                return told, ""
        ended = generator.ended
        return told + generator.rest(), "" if ended else f"the model did not come to an end within {most:,} tokens"


def _read(record: Record, text: Manuscript, progress: Progress) -> Iterator[str]:
    spot = Spot(record.id, record.length)
    for piece in record.pieces:
        text.append(piece)  # type: ignore[arg-type]
        yield piece  # type: ignore[misc]
        progress.advance(len(piece), record=spot.on(len(piece)))


def _sentences(text: str) -> list[str]:
    return [" ".join(found.sentence.text.split()) for found in find_sentences([text])]


def _cost(sentences: list[str], budget: Budget) -> int:
    """What these take of the budget."""
    if budget.unit == "sentences":
        return len(sentences)
    return sum(len(text) if budget.unit == "characters" else count_words(text) for text in sentences)


def fitting(told: str, budget: Budget, limit: int) -> tuple[list[str], str]:
    """The first sentences that the budget holds, and what became of the rest: of a single one too long, a part."""
    sentences = _sentences(told)
    fitting = next(n for n in range(len(sentences), -1, -1) if _cost(sentences[:n], budget) <= limit)
    if fitting == len(sentences):
        return sentences, ""
    if fitting:
        return sentences[:fitting], f"cut after {fitting} of {len(sentences)} sentences"
    parts = [sentences[0][: found.start()] for found in _BREAK.finditer(sentences[0]) if found.start()]
    part = next((part for part in reversed(parts) if _cost([part], budget) <= limit), None)
    return [] if part is None else [part], "cut inside a sentence"
