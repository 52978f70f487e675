"""What the page keeps of the records of DNA as they pass, and the order in which it tells of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import PurePath
from types import TracebackType

from longseq.report.dna_page.composition import Composition
from longseq.report.dna_page.embeddings import embeddings
from longseq.report.dna_page.ideogram import COLUMNS, ideogram
from longseq.report.dna_page.lengths import lengths
from longseq.report.dna_page.records import Records
from longseq.report.dna_page.surprises import Surprises
from longseq.report.dna_page.totals import totals
from longseq.report.gathered.longest import Longest
from longseq.report.gathered.vector_map import VectorMap
from longseq.report.page import Markup, element
from longseq.report.report_page import Facts
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

SHOWN = 24
"""Records whose tracks are shown."""
BINS, ROOM = 1_700, 120_000
"""Bins of a track of a record at most; windows of all that are shown as they are, where they are no more."""
POINTS = 2_000
"""Windows on the map of embeddings."""
STYLE = """
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); gap: 0 1.5em; }
#dna-records .scroll { max-height: 32em; overflow: auto; } @media print { #dna-records .scroll { max-height: none; } }
.letters { border: 1px solid var(--line); padding: .6em; max-height: 22em; overflow: auto; }
"""


class DnaPart:
    """The part (`longseq.report.report_page.Part`) of a run of windows of `window` bases."""

    style = STYLE

    def __init__(self, window: int):
        self._window = window
        self._file = ""
        self._composition, self._records, self._surprises = Composition(), Records(), Surprises()
        self._longest, self._map = Longest(SHOWN, COLUMNS, BINS, ROOM), VectorMap(POINTS)
        self._told: list[tuple[str, str, list[Markup]]] = []
        self.count = 0

    def __enter__(self) -> DnaPart:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Nothing lies on disk."""

    def dna(self, summary: RecordSummary) -> None:
        self.count += 1
        self._file = self._file or summary.row.file
        for one in (self._composition, self._records, self._surprises, self._longest, self._map):
            one.dna(summary)

    def document(self, summary: DocumentSummary) -> None:
        """Documents have a part of their own."""

    def title(self) -> str:
        return "DNA from standard input" if self._file == "-" else PurePath(self._file).name

    def contents(self, facts: Facts) -> Iterable[tuple[str, str]]:
        self._told = [part for part in self._parts(facts) if part[2]]
        return [(place, name) for place, name, _ in self._told]

    def sections(self, facts: Facts) -> Iterator[Markup]:
        for place, name, parts in self._told:
            lines = chain([element("h2", name)], parts)
            yield Markup(element("section", *(Markup(f"{line}\n") for line in lines), id=place) + "\n")

    def _parts(self, facts: Facts) -> Iterator[tuple[str, str, list[Markup]]]:
        """Id, heading and content of each section; one without content has no place on the page."""
        samples = facts.samples if len(facts.samples) > 1 else ()
        records = self._longest.records()
        yield "dna-totals", "Totals", totals(facts, self._records.findings)
        yield "dna-lengths", "Lengths", lengths(self._composition.lengths.lengths)
        yield "dna-tracks", "Along the records", ideogram(records, self._longest.seen, self._window, samples)
        yield "dna-composition", "GC and length", self._composition.shown()
        yield "dna-map", "Map of windows", embeddings(self._map.points(), samples)
        yield "dna-surprises", "Most surprising windows", self._surprises.shown(samples)
        yield "dna-records", "Records", self._records.shown(self.count, samples)
