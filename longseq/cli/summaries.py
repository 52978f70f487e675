"""What `summarize` leaves, of one run or of a batch of shards."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longseq.cli.leaving import PLOTS
from longseq.cli.sources import verdict
from longseq.cli.talk import Talk

if TYPE_CHECKING:
    from longseq.results.run import Run
    from longseq.results.source import SourceRow
    from longseq.tasks.shards.gather import Batch
    from longseq.tasks.summarize.files import Sink

LEFT_BEHIND = (
    "summary.json",
    "summary.md",
    "report.html",
    "sequences.tsv",
    "windows.parquet",
    "regions.bed",
    "files.tsv",
    "longseq_mqc.json",
    "run.json",
    "regions.fa",
    "embeddings.parquet",
    "tracks",
    PLOTS,
)
"""What `--out` may hold of an earlier run."""
STYLES = ("text", "md", "html", "json", "jsonl")


@dataclass
class Told:
    """A run: its writers, and what it came to."""

    sinks: list[Sink] = field(default_factory=list)
    """To be told of every record."""
    sources: Sequence[SourceRow] = ()
    """The inputs, once all were told."""
    run: Callable[[], Run] | None = None
    """Where the result comes from, asked for when all but that is written."""


@contextmanager
def summaries(
    out: str | None,
    samples: Sequence[str],
    window: int,
    request: Mapping[str, Any],
    *,
    style: str,
    plots: Sequence[str],
    force: bool,
) -> Iterator[Told]:
    """The writers of a run of windows of `window` bases; its files stand in `out`, pictures of the kinds `plots` among
    them, and stdout has its text in `style`, when the block ended well. `request` is what was asked for, in plain
    types."""
    from longseq.formats.atomic import output_directory
    from longseq.report.dna_page.part import DnaPart
    from longseq.report.document_page.part import DocumentPart
    from longseq.report.input_folders import InputFolders
    from longseq.report.pages import Pages
    from longseq.report.plots.documents import DocumentPlots
    from longseq.report.plots.record_plots import RecordPlots
    from longseq.report.region_letters import RegionLetters
    from longseq.report.report_page import FILE, Facts, ReportPage
    from longseq.report.sheets import write_sheets
    from longseq.report.summary_json import JsonLines, JsonRecords
    from longseq.report.tables import DnaTables
    from longseq.report.terminal import Overview
    from longseq.report.tracks import Tracks
    from longseq.report.vectors import VectorTable

    overview, pictures = Overview(window), (RecordPlots(samples, window), DocumentPlots())
    with ExitStack() as spools:
        records = spools.enter_context(JsonRecords())
        lines = spools.enter_context(Pages())
        page = spools.enter_context(ReportPage([DnaPart(window), DocumentPart()]))
        with output_directory(out, force=force, replaces=LEFT_BEHIND) if out is not None else nullcontext() as folder:
            told = Told([overview])
            told.sinks += [records] if folder or style == "json" else []
            told.sinks += [lines] if folder or style == "md" else []
            told.sinks += [page] if folder or style == "html" else []
            told.sinks += [JsonLines(sys.stdout)] if style == "jsonl" else []
            told.sinks += pictures if folder and plots else []
            with ExitStack() as files:
                if folder:
                    places, tracks = InputFolders(folder, samples), files.enter_context(Tracks())
                    told.sinks += [tracks, files.enter_context(DnaTables(places))]
                    told.sinks += [files.enter_context(VectorTable(folder)), files.enter_context(RegionLetters(places))]
                yield told
                if folder:
                    tracks.write(places)
            assert told.run is not None
            run, sources = told.run(), told.sources
            if folder:
                write_sheets(folder, run, sources, samples, request)
                with open(folder / "summary.json", "w", encoding="utf-8", errors="backslashreplace") as file:
                    records.write(file, run, sources)
                lines.save(folder)
                with open(folder / FILE, "w", encoding="utf-8", errors="backslashreplace") as file:
                    page.write(file, Facts(run=run, sources=sources, samples=samples, request=request))
                for picture in pictures if plots else ():
                    picture.save(folder / PLOTS, plots)
        if style == "json":
            records.write(sys.stdout, run, sources)
        elif style == "md":
            lines.write(sys.stdout, overview.views(sources))
        elif style == "html":
            page.write(sys.stdout, Facts(run=run, sources=sources, samples=samples, request=request))
        elif style == "text":
            sys.stdout.write(overview.text(sources))


def play(batch: Batch, out: str, *, force: bool, talk: Talk, style: str = "text") -> int:
    """Write what the shards of a batch kept, as one run would have; say what went wrong, and give the exit code.

    Raises:
        InputError: the first one, when no record of any input could be summarised because of it.
    """
    import logging

    from longseq.tasks.summarize.files import require_any
    from longseq.tasks.summarize.kept import Replay
    from longseq.tasks.summarize.model import shift_text

    asked, facts = batch.request, batch.facts
    request = asked["request"]
    leaving: dict[str, Any] = {"style": style, "plots": asked["plots"], "force": force}
    with summaries(out, asked["samples"], request["window"], request, **leaving) as told:
        replay = Replay(batch, told.sinks, request["sample_fraction"])
        sources = replay.run()
        require_any(sources)
        told.sources = [replay.row(source) for source in sources]
        told.run = lambda: batch.run(shlex.join(["longseq", *talk.arguments]))
    if "model" in facts:
        for row in told.sources:
            here = None if row.totals is None or row.totals.softmask is None else row.totals.softmask / 100
            if (text := shift_text(row.file, here, facts["model"], facts["soft_masked"])) is not None:
                logging.getLogger("longseq").warning("%s", text)
    return verdict(told.sources)
