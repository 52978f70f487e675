"""`longseq.summarize`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from longseq.api.models import Named, Path, Several, asked, inputs_of, opened, several
from longseq.api.results import Results, Walk
from longseq.log import Progress, count
from longseq.records import Kind
from longseq.report.document_rows import DOCUMENTS, SENTENCES, document_row, sentence_rows
from longseq.report.frame import Table
from longseq.report.lines import number
from longseq.report.tables import SEQUENCES, WINDOWS, in_order, sequence_cells, window_batch
from longseq.report.view import ROWS, View, cell
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary
from longseq.results.source import SourceRow

if TYPE_CHECKING:
    from longseq.tasks.summarize.bits import Surprisal
    from longseq.tasks.summarize.extras import Extras
    from longseq.tasks.summarize.request import Request

Summary = RecordSummary | DocumentSummary
REGIONS = {
    "file": "string",
    "index": "int64",
    "record": "string",
    "name": "string",
    "kind": "string",
    "start": "int64",
    "end": "int64",
    "gc": "float64",
    "gc_skew": "float64",
    "bits": "float64",
}
"""Columns of `Summaries.regions`, and their types."""
WHOLE = 3
"""Documents whose sentences are shown; of more, a line each."""


class Summaries(Results[Summary]):
    """Summaries of records of DNA (`RecordSummary`) and of documents (`DocumentSummary`), in input order.

    Kept, a record takes about 200 bytes a window and 4 kB besides, a document its sentences.
    """

    @property
    def table(self) -> Table:
        """A row a record: of DNA the columns of `sequences.tsv`, of documents their figures and the summary; of both
        together all of them, null where a column says nothing of a kind."""
        types = {"file": "string", "index": "int64", "id": "string", "kind": "string"}
        types |= SEQUENCES if self._dna or not self._documents else {}
        types |= DOCUMENTS if self._documents else {}
        return Table.of_rows(count(len(self), "record"), types, map(_row, self))

    @property
    def windows(self) -> Table:
        """A row a window of all records of DNA, by the columns of `windows.parquet`: file, index and id of the record,
        place, letters, GC, skew, entropy, complexity, bits a base."""
        parts = [(one.row, one.windows) for one in self._dna if one.windows is not None and len(one.windows)]
        batch = window_batch(parts) if parts else {name: [] for name in WINDOWS}
        return Table(count(sum(len(windows) for _, windows in parts), "window"), WINDOWS, batch)

    @property
    def regions(self) -> Table:
        """A row a region of all records of DNA: a stretch of one composition, or of one level of bits a base."""
        rows = [
            {"file": one.row.file, "index": one.row.index, "name": name, **region.to_json()}
            for one in self._dna
            for name, region in in_order(one.regions)
        ]
        return Table.of_rows(count(len(rows), "region"), REGIONS, rows)

    @property
    def sentences(self) -> Table:
        """A row a sentence of all summaries of documents, with its place in the text."""
        rows = [row for one in self._documents for row in sentence_rows(one)]
        return Table.of_rows(count(len(rows), "sentence"), SENTENCES, rows)

    @property
    def _dna(self) -> list[RecordSummary]:
        return [one for one in self._all if isinstance(one, RecordSummary)]

    @property
    def _documents(self) -> list[DocumentSummary]:
        return [one for one in self._all if isinstance(one, DocumentSummary)]

    def _views(self) -> Sequence[View]:
        dna, documents = self._dna, self._documents
        views = [_of_dna(dna)] if dna or not documents else []
        if len(documents) <= WHOLE:
            return views + [_of_document(one) for one in documents]
        rows = [(one.id, cell(one.words), document_row(one)["summary"]) for one in documents[:ROWS]]
        title = count(len(documents), "document")
        return [*views, View(title, ("document", "words", "summary"), rows, len(documents) - len(rows))]


def _row(one: Summary) -> dict[str, Any]:
    if isinstance(one, DocumentSummary):
        return {"kind": one.kind, **document_row(one)}
    return {"kind": one.row.kind, **dict(zip(SEQUENCES, sequence_cells(one.row), strict=True))}


def _of_dna(dna: Sequence[RecordSummary]) -> View:
    rows = []
    for row in (one.row for one in dna[:ROWS]):
        found = row.findings
        label = "" if found.classes is None else found.classes.label
        genes = "" if found.genes is None else cell(found.genes.number)
        figures = (cell(row.length), number(row.gc, 2), cell(row.n), number(row.bits_per_base, 3))
        rows.append((row.id, *figures, row.topology, label, genes, cell(row.truncated)))
    total = f"{count(len(dna), 'record')} of DNA, {sum(one.row.length for one in dna):,} bp"
    names = ("record", "bp", "GC %", "N", "bits a base", "topology", "class", "genes", "cut short")
    told = [i for i in range(len(names)) if any(row[i] not in ("", "NA") for row in rows)]
    kept = [tuple(row[i] for i in told) for row in rows]
    return View(total, tuple(names[i] for i in told), kept, len(dna) - len(rows))


def _of_document(one: DocumentSummary) -> View:
    many = f"{count(len(one.documents), 'document')} together" if one.documents else one.id
    title = f"{many}: {count(one.words, 'word')}; the summary has {count(one.summary_words, 'word')}"
    rows = [(row.span, " ".join(row.text.split())) for row in one.sentences]
    return View(title, ("place", "sentence"), rows)


def summarize(
    *inputs: Path,
    model: Named | None = "dna",
    kind: Kind | None = None,
    column: str | None = None,
    region: Several = (),
    alias: Path | None = None,
    strict: bool = False,
    on_unknown: Literal["error", "N"] = "error",
    window: int = 10_000,
    strands: Literal["both", "forward"] = "both",
    min_contig: int = 0,
    sample_fraction: float = 1.0,
    seed: int = 0,
    classifier: Named | None = None,
    pyrodigal: bool = False,
    sentences: int | None = None,
    words: int | None = None,
    characters: int | None = None,
    ratio: float | None = None,
    by: Literal["section", "chapter", "page", "outline"] | None = None,
    query: Several = (),
    must_include: Several = (),
    exclude: Several = (),
    extractor: Path | None = None,
    together: bool = False,
    one_pass: bool = False,
    precision: Literal["fp32", "bf16"] = "fp32",
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Summaries:
    """What is in sequences and documents, and where to look, as `longseq summarize` says it.

        for record in longseq.summarize("genome.fa.gz"):  # one record in memory at a time
            print(record)
        longseq.summarize("papers/", sentences=3)  # in a notebook: shown

    Figures are the command's, to the bit where `torch.set_num_threads(1)` was called, as the command does.

    Args:
        inputs: Files in any format that `longseq.read` takes, folders, patterns, or "-" for standard input.
        model: That reads DNA: a name, a directory or a `Checkpoint`, which says the device; loaded when there is DNA.
            None: counts, windows and regions only, at the speed of the disk.
        kind: What the inputs are, whatever they look like.
        column: Of tables, the one with the texts.
        region: `NAME` or `NAME:START-END`, 1-based and closed, or several: only these stretches.
        alias: A file of two names of one record a line.
        strict: A region past the end of its record is an error, not cut.
        on_unknown: Letters outside the IUPAC codes: an error, or read as N.
        window: Bases a window, 100 to 1,000,000; 0 for none.
        strands: That a model reads; both take twice as long.
        min_contig: Bases; shorter records of DNA are left out.
        sample_fraction: Share of DNA's records that is read, above 0, at most 1.
        seed: Of the sample.
        classifier: A model of your own training that classifies records of DNA.
        pyrodigal: Count genes of prokaryotes, where pyrodigal (GPL) is installed.
        sentences, words, characters, ratio: One of them at most: what a document's summary may hold; a ratio is of the
            document's words. 10 sentences, unless told otherwise.
        by: A summary of each of these parts, each as long as is allowed.
        query: What the summary shall answer.
        must_include, exclude: Regular expressions of sentences to quote first, and not to quote.
        extractor: A model of your own training that judges sentences.
        together: One summary of all documents.
        one_pass: Keep nothing but the best sentences so far: for endless pipes.
        precision: Of matrix products; memories are fp32.
        chunk: Tokens a recurrent call, 1 to 1,048,576; None: 2,048.
        progress: Told of letters read.

    Returns:
        The summaries, not read yet: see `Results` for when they are, and what then stays in memory.

    Raises:
        UsageError, ConfigError: an argument that cannot be.
        CheckpointError: no such classifier or extractor. InputError: no such folder or pattern; what else cannot be
            read is said when it is.
    """
    from longseq.tasks.document.request import DocumentRequest
    from longseq.tasks.document.select import Budget
    from longseq.tasks.summarize.request import Request

    judge = None
    if extractor is not None:
        from longseq.tasks.extract.judge import TrainedJudge

        judge = TrainedJudge.load(os.fspath(extractor))
    amounts = {"sentences": sentences, "words": words, "characters": characters, "ratio": ratio}
    request = Request(
        kind=kind,
        column=column,
        **asked(region, alias, strict=strict, on_unknown=on_unknown),
        window=window,
        strands=strands,
        min_contig=min_contig,
        sample_fraction=sample_fraction,
        seed=seed,
        documents=DocumentRequest(
            budget=Budget.of(amounts),
            by=by,
            queries=several(query),
            must_include=several(must_include),
            exclude=several(exclude),
            extractor=judge,
            together=together,
            one_pass=one_pass,
        ),
    )
    extras = _extras(classifier, pyrodigal, vectors=model is not None and window != 0, precision=precision, chunk=chunk)
    reader = None if model is None else partial(_reader, model, precision, chunk)
    return Summaries(partial(_walk, inputs_of(inputs), request, reader, extras, progress))


def _reader(model: Named, precision: str, chunk: int | None) -> Surprisal:
    from longseq.tasks.summarize.model import ready

    return ready(opened(model), precision=precision, chunk=chunk).surprisal


def _extras(classifier: Named | None, pyrodigal: bool, *, vectors: bool, precision: str, chunk: int | None) -> Extras:
    from longseq.tasks.summarize.extras import Extras
    from longseq.tasks.summarize.genes import GeneFinder

    found = Extras(vectors=vectors, genes=GeneFinder() if pyrodigal else None)
    if classifier is None:
        return found
    from longseq.streaming.hidden import HiddenReader
    from longseq.tasks.summarize.classes import Classifier

    return replace(found, classifier=Classifier(HiddenReader(opened(classifier), precision=precision, chunk=chunk)))


def _walk(
    inputs: Iterable[str], request: Request, reader: Any, extras: Extras, progress: Progress | None
) -> Walk[Summary]:
    from longseq.tasks.summarize.files import summaries

    with closing(summaries(inputs, request, surprisal=reader, extras=extras, progress=progress)) as walk:
        while True:
            try:
                one = next(walk)
            except StopIteration as end:
                sources: list[SourceRow] = end.value
                return sources
            # Vectors hold only until the next record is asked for.
            yield replace(one, vectors=None) if isinstance(one, RecordSummary) else one
