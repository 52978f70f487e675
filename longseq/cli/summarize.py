"""`longseq summarize INPUT…`"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from longseq.cli.documents import document_options
from longseq.cli.fitting import refuse_idle, say_idle
from longseq.cli.options import computing, plots_option, reading, talking
from longseq.cli.sharding import Shards, sharded
from longseq.cli.sources import provenance, say_shifts, verdict
from longseq.cli.summaries import STYLES, summaries
from longseq.cli.summary_models import Models
from longseq.cli.summary_shards import in_shards
from longseq.cli.talk import Talk
from longseq.errors import UsageError

if TYPE_CHECKING:
    from longseq.results.source import SourceRow
    from longseq.tasks.document.request import DocumentRequest
    from longseq.tasks.summarize.request import Request


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--model", metavar="NAME|DIR", help="Model that reads DNA, or writes of documents.  [default: dna]")
@click.option("--no-model", is_flag=True, help="DNA without a model: counts, windows and regions only.")
@click.option(
    "--out",
    metavar="DIR",
    help="Write report.html, summary.json, tables and tracks (DNA), summary.md (documents) there.",
)
@click.option("--force", is_flag=True, help="Replace what an earlier run left in --out.")
@click.option("--format", "style", type=click.Choice(STYLES), help="What to print.  [default: text]")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@plots_option
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
@sharded
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
    plots: tuple[str, ...],
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
    shards: Shards,
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
    if plots and out is None:
        raise UsageError("--plots needs --out DIR")
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
    models = Models(
        model=model,
        no_model=no_model,
        writes=writes,
        classifier=classifier,
        extractor=context.params["extractor"],
        vectors=not no_model and window != 0,
        per_base=per_base,
        regions_fasta=regions_fasta,
        pyrodigal=pyrodigal,
        computing={"device": device, "threads": threads, "precision": precision, "chunk": chunk},
    )
    style = "json" if as_json else style or "text"
    inputs = files(inputs)
    names = sample_names(inputs, samples)
    if shards.asked:
        assert out is not None
        shards.refuse({"--save-text": save_text is not None})
        leaving: dict[str, Any] = {"out": out, "style": style, "plots": plots, "force": force}
        return in_shards(shards, inputs, names, request, models, **leaving, talk=talk)
    sources = _summarize(inputs, names, request, models, out, save_text, plots, force, style, talk)
    say_idle(context, (source.kind for source in sources), writes=writes)
    say_shifts(models.readers, sources)
    return verdict(sources)


def _summarize(
    inputs: tuple[str, ...],
    samples: list[str],
    request: Request,
    models: Models,
    out: str | None,
    save_text: str | None,
    plots: tuple[str, ...],
    force: bool,
    style: str,
    talk: Talk,
) -> Sequence[SourceRow]:
    from longseq.formats.atomic import output_directory
    from longseq.tasks.document.texts import TextFolder
    from longseq.tasks.summarize.files import summarize_files
    from longseq.tasks.summarize.request import plain_request

    extras, writer = models.extras(), models.writer()
    began = time.monotonic()
    with ExitStack() as stack:
        kept = None if save_text is None else stack.enter_context(output_directory(save_text, force=force))
        plain = plain_request(request)
        leaving: dict[str, Any] = {"style": style, "plots": plots, "force": force}
        told = stack.enter_context(summaries(out, samples, request.window, plain, **leaving))
        told.sources = summarize_files(
            inputs,
            request,
            surprisal=models.surprisal if models.reads else None,
            sinks=told.sinks,
            texts=None if kept is None else TextFolder(kept, save_text),
            progress=talk.progress(),
            extras=extras,
            writer=writer,
        )
        told.run = lambda: provenance(talk, models.used, told.sources, time.monotonic() - began)
    return told.sources
