"""An extractive summary of documents of any length, in one pass over their text.

The text streams through once: to disk, so that chosen sentences can be read back as they are; to sentences; to counts
of their terms. Ranking and choice read the counts, never the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from longseq.log import Progress
from longseq.records import Record
from longseq.results.document import DocumentFacts, DocumentSummary, PartSummary, SentenceRow
from longseq.results.salience import Hit
from longseq.tasks.document.candidates import ASIDES, REST
from longseq.tasks.document.choice import Choice, choose
from longseq.tasks.document.collection import Collection, first_byte, remarks_of_reading
from longseq.tasks.document.contexts import Spot, contexts
from longseq.tasks.document.cues import Cue
from longseq.tasks.document.hits import places_of
from longseq.tasks.document.one_pass import summarize_passing
from longseq.tasks.document.parts import Part
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.rows import UNWANTED, WRAPPED
from longseq.tasks.document.salience import section_shares
from longseq.tasks.document.texts import TextFolder
from longseq.tokens.reading import ReadingTime


def summarize_document(
    record: Record,
    request: DocumentRequest | None = None,
    *,
    progress: Progress | None = None,
    texts: TextFolder | None = None,
    spool_folder: str | Path | None = None,
) -> DocumentSummary:
    """The sentences of a document that stand for most of it within a budget, in document order.

    Args:
        record: A document; its pieces are walked once.
        request: What is wanted: 10 sentences of the whole unless told otherwise.
        progress: Told of every code point read; started and finished by the caller.
        texts: Where the text is kept, if anywhere.
        spool_folder: Where the text and the counts wait; None is the system's place for temporary files.

    Raises:
        InputError: a fault in the record, or one without pages is asked for its pages.
        LongseqError: the spool cannot be written.
    """
    request = request or DocumentRequest()
    if request.one_pass:
        return summarize_passing(record, request, progress)
    with Collection(request, spool_folder) as collection:
        collection.add(record, progress, texts)
        return summarize_collection(collection)


def summarize_collection(collection: Collection) -> DocumentSummary:
    """One summary of all documents of a collection, one at least."""
    rows, request = collection.rows, collection.request
    tiers, words = collection.tiers(), rows.column("words")
    choice = choose(collection, tiers, words)
    order = sorted(choice.chosen)
    at = {row: place for place, row in enumerate(order)}
    quoted = [_quote(collection, row, *choice.chosen[row], follows=row - 1 in at) for row in order]
    counted = tiers < REST
    shares, cut = section_shares(collection, choice.outline, words, counted, order)
    reading = ReadingTime()
    for row, number in zip(quoted, order, strict=True):
        reading.add(row.text, int(words[number]))
    wrapped = int((counted & (rows.column("asked") & WRAPPED > 0)).sum())
    return DocumentSummary(
        **vars(together(collection.documents)),
        sentences_total=int(counted.sum()),
        candidates=choice.candidates,
        wrapped=wrapped,
        budget=request.budget.describe(),
        summary_words=reading.words,
        summary_reading_minutes=reading.minutes,
        dangling=sum(row.dangling for row in quoted),
        queries=request.queries,
        by=request.by,
        parts=tuple(_part(collection, words, part, chosen, at) for part, chosen in choice.parts if request.by),
        documents=tuple(collection.documents) if request.together else (),
        sentences=tuple(quoted),
        contexts=tuple(contexts(collection.text, [_spot(collection, row) for row in order])),
        salience=choice.stretches.salience([choice.worth[row] for row in order]) if choice.candidates else None,
        outline=shares,
        outline_cut=cut,
        hits=tuple(_hit(collection, choice, row, relevance, at) for row, relevance in choice.hits),
        remarks=(
            *_remarks(collection, choice, wrapped),
            *(remark for document in collection.documents for remark in remarks_of_reading(document)),
        ),
    )


def together(documents: Sequence[DocumentFacts]) -> DocumentFacts:
    """Facts of many documents as if they were one."""
    if len(documents) == 1:
        return documents[0]
    length = sum(document.length for document in documents)
    read = sum(document.coverage * document.length for document in documents)
    digests = "".join(f"{document.sha256}\n" for document in documents)
    return DocumentFacts(
        file="",
        index=0,
        id="",
        description=f"{len(documents)} documents together",
        length=length,
        words=sum(document.words for document in documents),
        reading_minutes=round(sum(document.reading_minutes for document in documents), 2),
        sha256=hashlib.sha256(digests.encode()).hexdigest(),
        truncated=any(document.truncated for document in documents),
        coverage=read / length if length else 1.0,
        unread=tuple(page for document in documents for page in document.unread),
    )


def _quote(collection: Collection, number: int, rank: int, score: float, follows: bool) -> SentenceRow:
    """A row of the collection as a sentence of the summary, which holds the one before it or not (`follows`)."""
    row = collection.rows.row(number)
    document, at = int(row["document"]), int(row["start"])
    facts, layout, base = collection.documents[document], collection.layouts[document], collection.starts[document]
    passage = collection.text.read(at, at + int(row["length"]))
    first = first_byte(facts.notes)
    shift = 0 if first is None else first - collection.text.read(base, base).byte_start
    page = None if layout is None else layout.page_at(at - base)
    many = collection.request.together
    return SentenceRow(
        rank=rank,
        start=at - base,
        end=at - base + int(row["length"]),
        byte_start=None if first is None else passage.byte_start + shift,
        byte_end=None if first is None else passage.byte_end + shift,
        page=None if page is None else page.number,
        page_label=None if page is None else page.label,
        section=collection.sections[row["section"]],
        score=score,
        wrapped=bool(row["asked"] & WRAPPED),
        dangling=bool(row["cues"] & Cue.DANGLES) and not follows,
        file=facts.file if many else None,
        id=facts.id if many else None,
        index=facts.index if many else None,
        text=passage.text,
    )


def _hit(collection: Collection, choice: Choice, number: int, relevance: float, at: Mapping[int, int]) -> Hit:
    """A row of the collection as an answer; `at` has the places of the rows in the summary."""
    row = _quote(collection, number, 0, 0.0, follows=False)
    assert row.start is not None and row.end is not None
    return Hit(
        text=row.text,
        start=row.start,
        end=row.end,
        page=row.page,
        page_label=row.page_label,
        section=row.section,
        file=row.file,
        id=row.id,
        index=row.index,
        relevance=relevance,
        words=places_of(choice.telling, row.text),
        chosen=at.get(number),
    )


def _spot(collection: Collection, number: int) -> Spot:
    row = collection.rows.row(number)
    start, document = int(row["start"]), int(row["document"])
    first = collection.starts[document]
    return Spot(start, start + int(row["length"]), first, first + collection.documents[document].length)


def _part(
    collection: Collection, words: np.ndarray, part: Part, chosen: Sequence[int], at: Mapping[int, int]
) -> PartSummary:
    first, last = collection.rows.row(part.first), collection.rows.row(part.last - 1)
    base = collection.starts[first["document"]]
    return PartSummary(
        title=part.title,
        start=int(first["start"]) - base,
        end=int(last["start"] + last["length"]) - base,
        words=int(words[part.first : part.last].sum()),
        summary_words=int(words[list(chosen)].sum()),
        sentences=tuple(at[row] for row in chosen),
    )


def _remarks(collection: Collection, choice: Choice, wrapped: int) -> Iterator[str]:
    budget = collection.request.budget.describe()
    if collection.request.extractor is not None:
        yield f"its sentences were judged by {collection.request.extractor.described}"
    if not choice.candidates:
        excluded = bool((collection.rows.column("asked") & UNWANTED).any())
        yield "every sentence in it is excluded" if excluded else "there is no sentence in it"
    elif not choice.chosen:
        yield f"no sentence fits {budget}: the shortest has {choice.shortest} words"
    if choice.unanswered:
        yield f"no word of this stands in any sentence: {'; '.join(choice.unanswered)}"
    if choice.left_out:
        yield f"{choice.left_out} sentences that must be included do not fit {budget}"
    if choice.candidates and choice.tier >= REST:
        yield "there is no prose in it: headings, code and tables were quoted from"
    elif choice.candidates and choice.tier == ASIDES and collection.listed:
        yield "there is hardly any prose in it: lists and quotations were quoted from too"
    if wrapped:
        yield f"{wrapped} of its sentences are pieces of stretches without a sentence end"
