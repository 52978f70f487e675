"""Summaries of whole inputs, DNA and documents in any mixture, one record in memory at a time."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from longseq.errors import InputError, place
from longseq.formats import Reading
from longseq.formats.known import document_name
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
from longseq.tasks.shards.part import Part
from longseq.tasks.sources import NAMED, Source, sources_of
from longseq.tasks.summarize.bits import Surprisal
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.estimate import estimate_letters
from longseq.tasks.summarize.extras import Extras
from longseq.tasks.summarize.novelty import training_range
from longseq.tasks.summarize.request import Request, options_of
from longseq.tasks.summarize.sieve import Sieve
from longseq.tasks.summarize.totals import TotalsCounter

if TYPE_CHECKING:
    from longseq.tasks.document.written import Writer

log = logging.getLogger("longseq")

R = TypeVar("R")
Summary = RecordSummary | DocumentSummary


class Sink(Protocol):
    """Takes summaries as they come: those of one input together, inputs in order."""

    def dna(self, summary: RecordSummary) -> None: ...

    def document(self, summary: DocumentSummary) -> None: ...


class Keeping(Sink, Protocol):
    """A sink that is told as well which input begins, and what a sieve knows when one of DNA is over."""

    def began(self, number: int) -> None: ...

    def sifted(self, sieve: Sieve) -> None: ...


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
    """Summarise every record of every source into the sinks, in input order; arguments and errors as in `summaries`."""
    given = {"surprisal": surprisal, "texts": texts, "progress": progress, "extras": extras, "writer": writer}
    return _told(summaries(sources, request, **given), sinks)  # type: ignore[arg-type]


def summaries(
    sources: Iterable[str],
    request: Request | None = None,
    *,
    surprisal: Callable[[], Surprisal] | None = None,
    texts: TextFolder | None = None,
    progress: Progress | None = None,
    extras: Extras | None = None,
    writer: Writer | None = None,
) -> Generator[Summary, None, list[SourceRow]]:
    """A summary of every record of every source, in input order; in the end the sources, as they were read.

    A record that cannot be read does not stop the others, nor does a file; their errors are in the rows.

    Args:
        sources: Paths; `-` is standard input.
        request: What is wanted.
        surprisal: Loads the model for DNA, called once and only when there is DNA; None reads without one.
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
        own = sources_of([*sources])
        read = yield from _each(own, request, surprisal, progress, extras, document, writer is not None)
        require_any(read)
        if collection is not None and collection.documents:
            yield summarize_collection(collection)
    return [source.row() for source in read]


def summarize_part(
    sources: Iterable[str],
    part: Part,
    request: Request,
    keeper: Keeping,
    *,
    surprisal: Callable[[], Surprisal] | None = None,
    progress: Progress | None = None,
    extras: Extras | None = None,
    writer: Writer | None = None,
) -> list[Source]:
    """Summarise a shard's own records into what keeps them, as `summarize_files` does; the inputs as far as they were
    read, with their errors. That there is nothing but errors is for the whole to tell."""
    progress = progress or NullProgress()
    one = summarize_document if writer is None else writer.summary
    document = partial(one, request=request.documents, progress=progress)
    own, extras = sources_of([*sources], part), extras or Extras()
    return [*_told(_each(own, request, surprisal, progress, extras, document, writer is not None, keeper), [keeper])]


def _told(walk: Generator[Summary, None, R], sinks: Sequence[Sink]) -> R:
    """What a walk comes to; the sinks are told of every summary."""
    with closing(walk):
        while True:
            try:
                summary = next(walk)
            except StopIteration as end:
                return end.value
            for sink in sinks:
                sink.dna(summary) if isinstance(summary, RecordSummary) else sink.document(summary)


def require_any(sources: Sequence[Source]) -> None:
    """Raise the first error where no record could be read because of it; the others are logged."""
    errors = [found[0] for source in sources if (found := source.all_errors)]
    if errors and not any(source.records for source in sources):
        for other in errors[1:]:
            log.error("%s", other)
        raise errors[0]


def _each(
    sources: Iterable[Source],
    request: Request,
    surprisal: Callable[[], Surprisal] | None,
    progress: Progress,
    extras: Extras,
    document: Callable[[Record], DocumentFacts],
    only_documents: bool,
    keeper: Keeping | None = None,
) -> Generator[Summary, None, list[_Source]]:
    """Summaries, and the sources when they are read; `document` makes one of each document, or puts it into one with
    others."""
    model: Surprisal | None = None
    read: list[_Source] = []
    for source in sources:
        one = _Source(source, request, progress, extras, document)
        read.append(one)
        if keeper is not None:
            keeper.began(one.number)
        try:
            with one.opened() as reading:
                if reading.kind == "dna" and only_documents:
                    raise InputError(where=place(one.file), expected="a document to write of", found="DNA")
                if reading.kind == "dna" and surprisal is not None and model is None:
                    model = surprisal()
                    extras = one.extras = replace(extras, training_range=training_range(model))
                yield from one.summaries(reading, model)
        except InputError as error:
            one.fault = error
        one.truncated |= one.reading is not None and one.reading.truncated
        one.reading = None  # what it holds is not needed any more
        if keeper is not None and one.sieve is not None:
            keeper.sifted(one.sieve)
    return read


class _Source(Source):
    """One source on its way through."""

    def __init__(
        self,
        source: Source,
        request: Request,
        progress: Progress,
        extras: Extras,
        document: Callable[[Record], DocumentFacts],
    ):
        super().__init__(source.file, number=source.number, span=source.span)
        self.request, self.progress = request, progress
        self.extras, self.document = extras, document
        self.digest = hashlib.sha256()
        self.totals: Totals | None = None
        self.sieve: Sieve | None = None

    def opened(self) -> Reading:
        return self.open(**options_of(self.request))

    def summaries(self, reading: Reading, model: Surprisal | None) -> Iterator[Summary]:
        passes = 2 if model is not None and self.request.strands == "both" else 1
        known = model is not None and reading.kind == "dna" and self.span is None
        total = estimate_letters(self.file, self.request) if known else None
        what = document_name(self.file) + ", both strands" * (passes == 2)
        self.progress.start(what, total and total * passes, "base" if reading.kind == "dna" else "letter")
        try:
            records: Iterable[Record] = self._regions(reading) if self.request.regions else reading
            if reading.kind == "dna":
                yield from self._dna(records, model)
            else:
                yield from self._documents(records)
        finally:
            self.progress.finish()

    def _regions(self, reading: Reading) -> Iterator[Record]:
        again = None if reading.size is None else self._again
        request = self.request
        return pick_each(
            reading, request.regions, source=self.file, alias=request.alias, again=again, strict=request.strict
        )

    def _again(self) -> Reading:
        if self.reading is not None:
            self.reading.close()
        return self.opened()

    def _dna(self, records: Iterable[Record], model: Surprisal | None) -> Iterator[RecordSummary]:
        counter, request = TotalsCounter(), self.request
        sieve = self.sieve = Sieve(
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
                yield replace(summary, source=self.number)
        except InputError:  # what was read before the fault counts; a signal may have come amid a row
            self.totals = counter.finish(sieve)
            raise
        self.totals = counter.finish(sieve)

    def _documents(self, records: Iterable[Record]) -> Iterator[DocumentSummary]:
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
                yield facts

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
