"""`longseq.annotate`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from longseq.api.models import Named, Path, Several, asked, opened
from longseq.api.results import Results, Walk
from longseq.errors import UsageError
from longseq.log import NullProgress, Progress, count
from longseq.report.frame import Table

if TYPE_CHECKING:
    from longseq.streaming.classes import Classified, ClassReader
    from longseq.tasks.annotate.calls import Call
    from longseq.tasks.annotate.genes import Gene
    from longseq.tasks.annotate.predict import GeneRequest
    from longseq.tasks.annotate.run import Request
    from longseq.tasks.annotate.work import Row


class Feature(NamedTuple):
    """An interval of a record."""

    start: int
    """First base, 0-based."""
    end: int
    """One past the last base; behind the record's end where it crosses the origin of a circular one."""
    strand: Literal["+", "-", "."]
    label: str
    """Its class; `CDS` of genes."""
    probability: float
    """Mean of the class over the interval, or of a gene's reading frame."""
    score: float | None
    """Of a gene, in nats; None of other intervals."""
    partial: bool
    """Whether a gene runs over an end of the record."""


class Annotation(NamedTuple):
    """A record and what was found on it."""

    file: str
    record: str
    start: int
    """First base read; more than 0 only where a region was asked for."""
    end: int
    circular: bool
    truncated: bool
    """The file ended inside the record."""
    features: tuple[Feature, ...]
    """In order of their starts."""


class Annotations(Results[Annotation]):
    """Records with their intervals, in input order. All are read before the first is given; genes wait on disk until
    those of the whole genome are known."""

    @property
    def table(self) -> Table:
        """A row an interval: file, record, start, end, strand, label, probability, score, partial."""
        types = dict.fromkeys(("file", "record"), "string") | dict.fromkeys(("start", "end"), "int64")
        types |= dict.fromkeys(("strand", "label"), "string") | dict.fromkeys(("probability", "score"), "float64")
        rows = [{"file": one.file, "record": one.record, **at._asdict()} for one in self for at in one.features]
        title = f"{count(len(rows), 'interval')} on {count(len(self), 'record')}"
        return Table.of_rows(title, types | {"partial": "bool"}, rows)


def annotate(
    source: Path,
    *,
    genes: bool = False,
    model: Named | None = None,
    genetic_code: int = 11,
    min_gene: int = 90,
    mixed: bool = False,
    min_length: int = 1,
    threshold: float = 0.0,
    region: Several = (),
    alias: Path | None = None,
    strict: bool = False,
    on_unknown: Literal["error", "N"] = "error",
    precision: Literal["fp32", "bf16"] = "fp32",
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Annotations:
    """Genes of bacteria and archaea, or intervals of the classes of a model of your own, as `longseq annotate` finds
    them.

        longseq.annotate("assembly.fa.gz", genes=True).to_pandas()

    Args:
        source: A file of sequences, or "-" for standard input.
        genes: Find genes.
        model: Of each base's class: a name, a directory or a `Checkpoint`, which says the device; None: of genes.
        genetic_code: With `genes`, NCBI's number.
        min_gene: With `genes`, bases of a gene, the stop codon included.
        mixed: With `genes`, the records are not of one genome.
        min_length: Without `genes`, bases of an interval.
        threshold: Without `genes`, least mean probability of an interval.
        region, alias, strict, on_unknown, precision, chunk, progress: As in `longseq.summarize`.

    Returns:
        The records with their intervals, not read yet: see `Results` for when they are.

    Raises:
        CheckpointError, AlphabetError: not a checkpoint that classifies bases. UsageError, ConfigError: an argument
            that cannot be.
    """
    from longseq.streaming.classes import ClassReader
    from longseq.tasks.annotate.frames import columns
    from longseq.tasks.annotate.predict import GeneRequest
    from longseq.tasks.annotate.run import Request

    if model is None and not genes:
        raise UsageError("model is missing: which classes?", remedy="name one of your own training, or genes=True")
    unsaid = {"min_length": min_length != 1, "threshold": threshold != 0}
    if not genes:
        unsaid = {"genetic_code": genetic_code != 11, "min_gene": min_gene != 90, "mixed": mixed}
    if asked_for := [name for name, given in unsaid.items() if given]:
        raise UsageError(
            f"{asked_for[0]} speaks of {'intervals, not of genes' if genes else 'genes'}",
            remedy="leave it out" if genes else "add genes=True",
        )
    plain: dict[str, Any] = {"source": os.fspath(source), **asked(region, alias, strict=strict, on_unknown=on_unknown)}
    reader = ClassReader(opened("genes" if model is None else model), chunk=chunk, precision=precision)
    progress = progress or NullProgress()
    if genes:
        request = GeneRequest(code=genetic_code, shortest=min_gene, mixed=mixed, **plain)
        columns(reader.labels, reader.checkpoint.name)
        return Annotations(partial(_genes, request, reader, progress))
    return Annotations(
        partial(_intervals, Request(shortest=min_length, threshold=threshold, **plain), reader, progress)
    )


class _Held:
    """Records that are over, in memory."""

    def __init__(self) -> None:
        self.rows: list[Row | None] = []

    def add(self, row: Row | None) -> None:
        self.rows.append(row)

    def give_way(self) -> None:
        """Python's own signals stop it."""


def _genes(request: GeneRequest, reader: ClassReader, progress: Progress) -> Walk[Annotation]:
    from longseq.formats.genetic_code import genetic_code
    from longseq.tasks.annotate.finder import GeneFinder
    from longseq.tasks.annotate.gene_sheets import WHAT
    from longseq.tasks.annotate.names import Names
    from longseq.tasks.annotate.predict import read
    from longseq.tasks.sources import Source, require_some

    source, held = Source(request.source), _Held()
    with GeneFinder(reader, genetic_code(request.code), shortest=request.shortest) as finder:
        read(request, reader, source, held, Names(WHAT).give, finder, progress)
        require_some([source], reader.checkpoint)
        rows = [row for row in held.rows if row is not None]
        for row, found in zip(rows, finder.find(mixed=request.mixed), strict=True):
            yield _of(row, (_gene(*pair, found.start) for pair in zip(found.genes, found.probabilities, strict=True)))
    return [source.row()]


def _gene(gene: Gene, probability: float, first: int) -> Feature:
    partial = gene.open_begin or gene.open_end
    return Feature(gene.start + first, gene.end + first, gene.strand, "CDS", probability, gene.score, partial)


def _intervals(request: Request, reader: ClassReader, progress: Progress) -> Walk[Annotation]:
    from longseq.tasks.annotate.calls import Caller, stranded
    from longseq.tasks.annotate.names import Names
    from longseq.tasks.annotate.reading import read_records, whole
    from longseq.tasks.annotate.tracks import WHAT
    from longseq.tasks.sources import Source, require_some

    source, held = Source(request.source), _Held()
    names, n = stranded(reader.labels), reader.tokenizer.alphabet.letters.index(b"N")
    found: list[list[Feature]] = []

    def feature(call: Call) -> Feature:
        label, strand = names[call.label]
        return Feature(call.start, call.end, strand, label, call.probability, None, False)

    def take(row: Row, _: Any, parts: Iterator[Classified]) -> Iterator[int]:
        caller = Caller(shortest=request.shortest, threshold=request.threshold, circular=row.circular)
        own: list[Feature] = []
        for ids, probabilities in parts:
            own += [feature(call.moved(row.start)) for call in caller.add(probabilities, ids != n)]
            yield len(ids)
        found.append([*own, *(feature(call.moved(row.start)) for call in caller.finish())])

    read_records(request, reader, source, held, Names(WHAT).give, lambda one: whole(one.record), take, progress)
    require_some([source], reader.checkpoint)
    for row, features in zip((row for row in held.rows if row is not None), found, strict=True):
        yield _of(row, features)
    return [source.row()]


def _of(row: Row, features: Iterable[Feature]) -> Annotation:
    end = row.start + row.length
    return Annotation(row.file, row.name, row.start, end, row.circular, row.truncated, tuple(features))
