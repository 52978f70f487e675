"""`longseq summarize INPUT…`"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

import click

from longseq.cli.documents import document_options
from longseq.cli.fitting import refuse_idle, say_idle
from longseq.cli.options import computing, reading, talking
from longseq.cli.sources import provenance, say_shifts, verdict
from longseq.cli.talk import Talk
from longseq.errors import UsageError

if TYPE_CHECKING:
    from longseq.results.source import SourceRow
    from longseq.tasks.document.request import DocumentRequest
    from longseq.tasks.document.written import Writer
    from longseq.tasks.summarize.classes import Classifier
    from longseq.tasks.summarize.extras import Extras
    from longseq.tasks.summarize.files import Sink
    from longseq.tasks.summarize.model import LoadedModel
    from longseq.tasks.summarize.request import Request

LEFT_BEHIND = (
    "summary.json",
    "summary.md",
    "summary.html",
    "sequences.tsv",
    "windows.parquet",
    "regions.bed",
    "files.tsv",
    "longseq_mqc.json",
    "run.json",
    "regions.fa",
    "embeddings.parquet",
    "tracks",
)
"""What `--out` may hold of an earlier run."""
STYLES = ("text", "md", "html", "json", "jsonl")


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--model", metavar="NAME|DIR", help="Model that reads DNA, or writes of documents.  [default: dna]")
@click.option("--no-model", is_flag=True, help="DNA without a model: counts, windows and regions only.")
@click.option("--out", metavar="DIR", help="Write summary.json, tables and tracks (DNA) or pages (documents) there.")
@click.option("--force", is_flag=True, help="Replace what an earlier run left in --out.")
@click.option("--format", "style", type=click.Choice(STYLES), help="What to print.  [default: text]")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--kind", type=click.Choice(["dna", "document"]), help="What the inputs are, whatever they look like.")
@reading()
@click.option("--window", type=int, help="Bases a window; 0 for none.  [default: 10000]")
@click.option(
    "--strands",
    type=click.Choice(["both", "forward"]),
    default="both",
    show_default=True,
    help="Strands that a model reads; both take twice as long.",
)
@click.option("--min-contig", type=int, default=0, show_default=True, help="Leave shorter records of DNA out.")
@click.option(
    "--sample-fraction", type=float, default=1.0, show_default=True, help="Share of DNA's records that is read."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample.")
@click.option(
    "--sample",
    "samples",
    metavar="NAME",
    multiple=True,
    help="Name of the input in tables of many; once for each.  [default: folder and name]",
)
@click.option("--per-base", is_flag=True, help="The track of bits a base holds every base, not windows.")
@click.option("--regions-fasta", is_flag=True, help="Write the letters of all regions to regions.fa in --out.")
@click.option("--classifier", metavar="DIR", help="Model of your own that classifies records; see `longseq train`.")
@click.option("--pyrodigal", is_flag=True, help="Count genes of prokaryotes, where pyrodigal (GPL) is installed.")
@click.option("--save-text", metavar="DIR", help="Keep the text of each document there, as it was read.")
@click.option(
    "--method",
    type=click.Choice(["extract", "generate"]),
    default="extract",
    show_default=True,
    help="Quote documents, or let a --model of your own write of them: not verbatim; see `longseq train`.",
)
@document_options
@computing
@talking
def command(
    inputs: tuple[str, ...],
    model: str | None,
    no_model: bool,
    out: str | None,
    force: bool,
    style: str | None,
    as_json: bool,
    kind: Any,
    asked: Callable[[], dict[str, Any]],
    window: int | None,
    strands: Any,
    min_contig: int,
    sample_fraction: float,
    seed: int,
    samples: tuple[str, ...],
    per_base: bool,
    regions_fasta: bool,
    classifier: str | None,
    pyrodigal: bool,
    save_text: str | None,
    method: str,
    documents: Callable[[], DocumentRequest],
    device: str,
    threads: int,
    precision: str,
    chunk: int | None,
    talk: Talk,
) -> int:
    """What is in sequences and documents, and where to look.

    An INPUT is a file in any of FASTA, FASTQ, GenBank, EMBL, 2bit, BAM, CRAM, SAM, GFF3 with its ##FASTA, plain text,
    Markdown, reStructuredText, HTML, PDF, DOCX, EPUB, JATS, JSON lines, CSV, TSV, as it is or packed by gzip, bgzip,
    bzip2, xz or zstd, of Parquet or Arrow, a folder or a pattern of such files, or `-` for standard input. Content
    decides, not the name, but for CSV and TSV.

    With --out, regions.bed, regions.fa and the tracks of DNA lie in DIR and DIR/tracks/ where one input was asked for.
    Of several, all three of each lie in DIR/tracks/SAMPLE/: SAMPLE is its name in files.tsv, with `_` for blanks and
    marks. Regions that overlap share the tracks, which have the figures of the one given first. embeddings.parquet has
    a row a window; where none of its letters is A, C, G or T, the vector is null.
    """
    from longseq.formats.folders import files
    from longseq.report.samples import sample_names
    from longseq.tasks.summarize.extras import Extras
    from longseq.tasks.summarize.genes import GeneFinder
    from longseq.tasks.summarize.model import load_model
    from longseq.tasks.summarize.request import Request

    if as_json and style not in (None, "json"):
        raise UsageError("--json and --format say different things", remedy="give one of them")
    context = click.get_current_context()
    writes = method == "generate"
    refuse_idle(context, no_model=no_model, classifier=classifier is not None, writes=writes, kind=kind)
    for flag, name in ((per_base, "--per-base"), (regions_fasta, "--regions-fasta")):
        if flag and out is None:
            raise UsageError(f"{name} needs --out DIR")
        if flag and window == 0:
            raise UsageError(f"{name} needs windows", remedy="leave --window 0 out")
    asked_of_documents = documents()
    if asked_of_documents.one_pass and save_text is not None:
        raise UsageError("--one-pass keeps no text: --save-text cannot be with it", remedy="give one of them")
    windows: dict[str, Any] = {} if window is None else {"window": window}
    request = Request(
        kind=kind,
        **asked(),
        strands=strands,
        min_contig=min_contig,
        sample_fraction=sample_fraction,
        seed=seed,
        documents=asked_of_documents,
        **windows,
    )
    loaded: list[LoadedModel] = []

    def surprisal():
        loaded.append(
            load_model(
                "dna" if model is None else model, device=device, threads=threads, precision=precision, chunk=chunk
            )
        )
        return loaded[0].surprisal

    style = "json" if as_json else style or "text"
    inputs = files(inputs)
    names = sample_names(inputs, samples)
    extras = Extras(
        vectors=not no_model and window != 0,
        base_bits=per_base,
        letters=regions_fasta,
        classifier=None if classifier is None else _classifier(classifier, device, threads, precision, chunk),
        genes=GeneFinder() if pyrodigal else None,
    )
    writer = _writer(model, device, threads, precision, chunk) if writes else None
    model_for = None if no_model or writer else surprisal
    sources = _summarize(inputs, names, request, model_for, loaded, out, save_text, force, style, talk, extras, writer)
    say_idle(context, (source.kind for source in sources), writes=writes)
    say_shifts(loaded, sources)
    return verdict(sources)


def _writer(name: str | None, device: str, threads: int, precision: str, chunk: int | None) -> Writer:
    from longseq.tasks.document.written import Writer
    from longseq.tasks.summarize.model import load_checkpoint

    if name is None:
        remedy = "name one of your own: --model DIR, made by longseq train PAIRS --task seq2seq"
        raise UsageError("--method generate needs a model that writes, and none is shipped", remedy=remedy)
    checkpoint = load_checkpoint(name, device=device, threads=threads)
    return Writer(checkpoint=checkpoint, name=name, device=device, precision=precision, threads=threads, chunk=chunk)


def _classifier(name: str, device: str, threads: int, precision: str, chunk: int | None) -> Classifier:
    from longseq.streaming.hidden import HiddenReader
    from longseq.tasks.summarize.classes import Classifier
    from longseq.tasks.summarize.model import load_checkpoint

    chunks = {} if chunk is None else {"chunk": chunk}
    checkpoint = load_checkpoint(name, device=device, threads=threads)
    return Classifier(HiddenReader(checkpoint, precision=precision, **chunks))  # type: ignore[arg-type]


def _summarize(
    inputs: tuple[str, ...],
    samples: list[str],
    request: Request,
    surprisal: Any,
    loaded: list[LoadedModel],
    out: str | None,
    save_text: str | None,
    force: bool,
    style: str,
    talk: Talk,
    extras: Extras,
    writer: Writer | None,
) -> list[SourceRow]:
    from longseq.config import to_mapping
    from longseq.formats.atomic import output_directory
    from longseq.report.input_folders import InputFolders
    from longseq.report.pages import STYLES as PAGES
    from longseq.report.pages import Pages
    from longseq.report.region_letters import RegionLetters
    from longseq.report.sheets import write_sheets
    from longseq.report.summary_json import JsonLines, JsonRecords
    from longseq.report.tables import DnaTables
    from longseq.report.terminal import Overview
    from longseq.report.tracks import Tracks
    from longseq.report.vectors import VectorTable
    from longseq.tasks.document.texts import TextFolder
    from longseq.tasks.summarize.files import summarize_files

    began = time.monotonic()
    overview = Overview(request.window)
    with ExitStack() as spools:
        records = spools.enter_context(JsonRecords())
        pages = spools.enter_context(Pages(one for one in PAGES if out or one == style))
        kept = None if save_text is None else spools.enter_context(output_directory(save_text, force=force))
        texts = None if kept is None else TextFolder(kept, save_text)
        with output_directory(out, force=force, replaces=LEFT_BEHIND) if out is not None else nullcontext() as folder:
            sinks: list[Sink] = [overview]
            sinks += [records] if folder or style == "json" else []
            sinks += [pages] if folder or style in PAGES else []
            sinks += [JsonLines(sys.stdout)] if style == "jsonl" else []
            with ExitStack() as files:
                if folder:
                    places, tracks = InputFolders(folder, samples), files.enter_context(Tracks())
                    sinks += [tracks, files.enter_context(DnaTables(places))]
                    sinks += [files.enter_context(VectorTable(folder)), files.enter_context(RegionLetters(places))]
                sources = summarize_files(
                    inputs,
                    request,
                    surprisal=surprisal,
                    sinks=sinks,
                    texts=texts,
                    progress=talk.progress(),
                    extras=extras,
                    writer=writer,
                )
                if folder:
                    tracks.write(places)
            run = provenance(talk, [writer] if writer else loaded, sources, time.monotonic() - began)
            if folder:
                write_sheets(folder, run, sources, samples, to_mapping(request))
                with open(folder / "summary.json", "w", encoding="utf-8", errors="backslashreplace") as file:
                    records.write(file, run, sources)
                pages.save(folder)
        if style == "json":
            records.write(sys.stdout, run, sources)
        elif style in PAGES:
            pages.write(style, sys.stdout, overview.views(sources))
        elif style == "text":
            sys.stdout.write(overview.text(sources))
    return sources
