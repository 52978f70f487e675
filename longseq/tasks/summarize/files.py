"""Summaries of whole inputs, DNA and documents in any mixture, one record in memory at a time."""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from longseq.errors import InputError, place
from longseq.formats import Reading, read
from longseq.formats.region import pick_each
from longseq.log import NullProgress, Progress
from longseq.records import Record
from longseq.results.dna import RecordSummary, SequenceRow
from longseq.results.document import DocumentFacts, DocumentSummary
from longseq.results.source import SourceRow
from longseq.results.totals import Totals
from longseq.tasks.document.collection import Collection, unread
from longseq.tasks.document.summary import summarize_collection, summarize_document
from longseq.tasks.document.texts import TextFolder
from longseq.tasks.sources import NAMED, Source
from longseq.tasks.summarize.bits import Surprisal
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.extras import Extras
from longseq.tasks.summarize.novelty import training_range
from longseq.tasks.summarize.request import Request
from longseq.tasks.summarize.sieve import Sieve
from longseq.tasks.summarize.totals import TotalsCounter

if TYPE_CHECKING:
    from longseq.tasks.document.written import Writer

log = logging.getLogger("longseq")

SAMPLE = 1 << 21
"""Letters looked at to estimate how many a file holds."""


class Sink(Protocol):
    """Takes summaries as they come: those of one input together, inputs in order."""

    def dna(self, summary: RecordSummary) -> None: ...

    def document(self, summary: DocumentSummary) -> None: ...


def summarize_files(
    sources: Iterable[str],
    request: Request | None = None,
    *,
    surprisal: Callable[[], Surprisal] | None = None,
    sinks: Sequence[Sink] = (),
    texts: TextFolder | None = None,
    progress: Progress | None = None,
    extras: Extras | None = None,
    writer: Writer | None = None,
) -> list[SourceRow]:
    """Summarise every record of every source into the sinks, in input order.

    A record that cannot be read does not stop the others, nor does a file; their errors are in the rows.

    Args:
        sources: Paths; `-` is standard input.
        request: What is wanted.
        surprisal: Loads the model for DNA, called once and only when there is DNA; None reads without one.
        sinks: Where summaries go.
        texts: Where the texts of documents are kept, if anywhere.
        progress: Told of letters read, per file.
        extras: What is looked for in DNA besides; the model's own training range is added.
        writer: A model that summarises documents in its own words; without one, sentences are chosen.

    Raises:
        InputError: the first one, when no record of any source could be summarised because of it.
        UsageError: the request itself is wrong.
    """
    request, progress, extras = request or Request(), progress or NullProgress(), extras or Extras()
    with Collection(request.documents) if request.documents.together else nullcontext() as collection:
        if collection is not None:
            document: Callable[..., DocumentFacts] = partial(collection.add, progress=progress, texts=texts)
        else:
            one = summarize_document if writer is None else writer.summary
            document = partial(one, request=request.documents, progress=progress, texts=texts)
        rows = _each(sources, request, surprisal, sinks, progress, extras, document, writer is not None)
        if collection is not None and collection.documents:
            summary = summarize_collection(collection)
            for sink in sinks:
                sink.document(summary)
    return rows


def _each(
    sources: Iterable[str],
    request: Request,
    surprisal: Callable[[], Surprisal] | None,
    sinks: Sequence[Sink],
    progress: Progress,
    extras: Extras,
    document: Callable[[Record], DocumentFacts],
    only_documents: bool,
) -> list[SourceRow]:
    """A row a source; `document` makes a summary of each document, or puts it into one with others."""
    model: Surprisal | None = None
    rows: list[SourceRow] = []
    errors: list[InputError] = []
    for number, source in enumerate(sources):
        one = _Source(number, source, request, sinks, progress, extras, document)
        try:
            with _opened(source, request) as reading:
                if reading.kind == "dna" and only_documents:
                    raise InputError(where=place(source), expected="a document to write of", found="DNA")
                if reading.kind == "dna" and surprisal is not None and model is None:
                    model = surprisal()
                    extras = one.extras = replace(extras, training_range=training_range(model))
                one.summarize(reading, model)
        except InputError as error:
            one.errors.append(error)
        errors += one.errors[:1]
        rows.append(one.row())
    if errors and not any(row.records for row in rows):
        for other in errors[1:]:
            log.error("%s", other)
        raise errors[0]
    return rows


class _Source(Source):
    """One source on its way through, to the sinks."""

    def __init__(
        self,
        number: int,
        source: str,
        request: Request,
        sinks: Sequence[Sink],
        progress: Progress,
        extras: Extras,
        document: Callable[[Record], DocumentFacts],
    ):
        super().__init__(source)
        self.number, self.request, self.sinks, self.progress = number, request, sinks, progress
        self.extras, self.document = extras, document
        self.digest = hashlib.sha256()
        self.totals: Totals | None = None

    def summarize(self, reading: Reading, model: Surprisal | None) -> None:
        self.reading = reading
        passes = 2 if model is not None and self.request.strands == "both" else 1
        total = estimate_letters(self.file, self.request) if model is not None and reading.kind == "dna" else None
        what = self.file if passes == 1 else f"{self.file}, both strands"
        self.progress.start(what, total and total * passes, "base" if reading.kind == "dna" else "letter")
        try:
            records: Iterable[Record] = self._regions(reading) if self.request.regions else reading
            if reading.kind == "dna":
                self._dna(records, model)
            else:
                self._documents(records)
        finally:
            self.progress.finish()
            self.truncated |= self.reading.truncated

    def _regions(self, reading: Reading) -> Iterator[Record]:
        again = None if reading.size is None else self._again
        request = self.request
        return pick_each(
            reading, request.regions, source=self.file, alias=request.alias, again=again, strict=request.strict
        )

    def _again(self) -> Reading:
        if self.reading is not None:
            self.reading.close()
        self.reading = _opened(self.file, self.request)
        return self.reading

    def _dna(self, records: Iterable[Record], model: Surprisal | None) -> None:
        counter, request = TotalsCounter(), self.request
        sieve = Sieve(
            shortest=request.min_contig,
            fraction=request.sample_fraction,
            seed=request.seed,
            on_failure=self._fail,
        )
        try:
            for summary in summarize_records(
                sieve.through(records),
                window=request.window,
                surprisal=model,
                strands=request.strands,
                top=request.top,
                progress=self.progress,
                on_failure=self._fail,
                extras=self.extras,
            ):
                counter.add(summary.row)
                self._count(summary.row, summary.row.digest)
                numbered = replace(summary, source=self.number)
                for sink in self.sinks:
                    sink.dna(numbered)
        except InputError:  # what was read before the fault counts; a signal may have come amid a row
            self.totals = counter.finish(sieve)
            raise
        self.totals = counter.finish(sieve)

    def _documents(self, records: Iterable[Record]) -> None:
        for record in records:
            try:
                facts = self.document(record)
            except InputError as error:
                self._fail(record, error)
                continue
            self._count(facts, facts.sha256)
            if facts.unread:
                self.errors.append(unread(facts))
                del self.errors[NAMED:]
            if isinstance(facts, DocumentSummary):
                for sink in self.sinks:
                    sink.document(facts)

    def _count(self, row: SequenceRow | DocumentFacts, digest: str) -> None:
        self.digest.update(f"{digest}\n".encode())
        self.records += 1
        self.length += row.length
        self.truncated |= row.truncated
        if "clipped_end" in row.notes:
            log.warning(
                "%s (%s): ends at %s, and the region with it", row.file, row.id, f"{row.notes['clipped_end']:,}"
            )

    def _fail(self, record: Record, error: InputError) -> None:
        self.fail(error)

    def row(self) -> SourceRow:
        return replace(super().row(), digest=self.digest.hexdigest() if self.records else None, totals=self.totals)


def _opened(source: str, request: Request) -> Reading:
    return read(source, kind=request.kind, text=request.column, on_unknown=request.on_unknown)


def estimate_letters(source: str, request: Request) -> int | None:
    """About how many letters a file of DNA holds, from its size and its beginning; None for what is no file."""
    try:
        if source == "-" or not stat.S_ISREG(os.stat(source).st_mode):
            return None
        with _opened(source, request) as reading:
            letters = _letters(reading)
            if letters >= SAMPLE and reading.size:
                letters = round(letters * reading.size / max(reading.position, 1))
    except (InputError, OSError):
        return None
    if request.regions:  # one that is open at its end runs to that of its record, and no record is longer than all
        return sum(max(min(region.end, letters) - region.start, 0) for region in request.regions)
    return round(letters * request.sample_fraction)


def _letters(reading: Reading) -> int:
    """Letters up to SAMPLE and a piece, or all."""
    letters = 0
    for record in reading:
        for piece in record.pieces:
            letters += len(piece)
            if letters >= SAMPLE:
                return letters
    return letters
