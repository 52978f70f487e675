"""What a terminal shows of a run: at most 25 lines of plain text, however many records there were.

One document is the exception: its summary is printed whole, a line for each sentence.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from longseq.log import count
from longseq.records import Interval
from longseq.report.document import summary_lines
from longseq.report.findings import FindingsSeen
from longseq.report.lines import aligned, ending, number, screen, shortened
from longseq.results.dna import RecordSummary, Region, SequenceRow, SurprisingWindow, WindowColumns
from longseq.results.document import DocumentSummary
from longseq.results.source import SourceRow
from longseq.results.totals import Totals

LINES = 25
"""Lines at most."""
NAMELESS = "(no id)"
RECORDS, REGIONS, WINDOWS, SOURCES = 4, 3, 3, 20
"""Records, regions and windows of one input that are shown; inputs shown."""
SPANS = {"gc": "GC {} %", "cpg": "CpG o/e {}", "low_complexity": "low complexity {} %"}
"""Columns of windows whose extremes are shown, and how."""
COLUMNS = (*"acgt", *SPANS)
HELD = 1 << 9
"""Windows looked at together: record by record they cost more than counting their letters."""


@dataclass
class _Seen:
    """What is kept of one input while it passes."""

    dna: list[SequenceRow] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    region_count: int = 0
    bits_regions: int = 0
    findings: FindingsSeen = field(default_factory=FindingsSeen)
    windows: int = 0
    full: int = 0
    """Windows at least half of which are A, C, G, T."""
    spans: dict[tuple[str, bool], tuple[float, float]] = field(default_factory=dict)
    """By column, of windows that are so full and of the others."""
    surprising: list[tuple[float, int, int, str, SurprisingWindow]] = field(default_factory=list)
    held: list[WindowColumns] = field(default_factory=list)
    """Windows whose spans are not in `spans` yet."""
    held_size: int = 0

    def widen(self, window: int) -> None:
        """Take the windows that are held, of `window` bases each, into `spans`."""
        if not self.held:
            return
        columns = {name: np.concatenate([getattr(windows, name) for windows in self.held]) for name in COLUMNS}
        full = 2 * sum(columns[base] for base in "acgt") >= window
        self.windows += self.held_size
        self.full += int(np.count_nonzero(full))
        for name in SPANS:
            _widen(self.spans, (name, True), columns[name][full])
            _widen(self.spans, (name, False), columns[name][~full])
        self.held, self.held_size = [], 0


class Overview:
    """Takes summaries as they come, of windows of `window` bases, and keeps what there is room for."""

    def __init__(self, window: int):
        self._window = window
        self._seen: dict[int, _Seen] = {}
        self._documents: list[DocumentSummary] = []
        self._together: DocumentSummary | None = None

    def dna(self, summary: RecordSummary) -> None:
        row = summary.row
        seen = self._seen.get(summary.source)
        if seen is None:
            seen = self._seen[summary.source] = _Seen()
        if len(seen.dna) < RECORDS:
            seen.dna.append(row)
        seen.findings.add(row)
        for region in summary.regions:
            if region.kind == "composition":
                seen.region_count += 1
                if len(seen.regions) < REGIONS:
                    seen.regions.append(region)
            else:
                seen.bits_regions += 1
        if summary.windows is not None and len(summary.windows):  # of empty records there may be a million
            seen.held.append(summary.windows)
            seen.held_size += len(summary.windows)
            if seen.held_size >= HELD:
                seen.widen(self._window)
        for window in row.surprising:
            # the first of two equals stays: its place comes earlier, so its negative is greater
            entry = (window.bits, -row.index, -window.start, row.id, window)
            heapq.heappush(seen.surprising, entry)
            if len(seen.surprising) > WINDOWS:
                heapq.heappop(seen.surprising)

    def document(self, summary: DocumentSummary) -> None:
        if summary.documents:
            self._together = summary
        elif len(self._documents) < RECORDS:  # they are shown where there is one input alone
            self._documents.append(summary)

    def text(self, sources: Sequence[SourceRow]) -> str:
        """Plain text, ended by a line feed."""
        if self._together is not None:
            lines = [*summary_lines(self._together.description, self._together)]
        elif len(sources) > 1:
            lines = [*_sources(sources)]
        elif sources[0].kind == "document":
            lines = [*_documents(sources[0], self._documents)]
        else:
            lines = _fitting(sources[0], self._of(0))
        return screen(lines)

    def views(self, sources: Sequence[SourceRow]) -> Iterator[tuple[str, str]]:
        """Inputs of DNA, each with its plain text, for pages; documents have their own."""
        for at, source in enumerate(sources):
            if source.kind == "dna":
                yield source.file, screen(_fitting(source, self._of(at))).rstrip("\n")

    def _of(self, source: int) -> _Seen:
        seen = self._seen.get(source, _Seen())
        seen.widen(self._window)
        return seen


def _fitting(source: SourceRow, seen: _Seen) -> list[str]:
    """A view of at most LINES lines: where the figures take more, fewer records are shown."""
    lines = [*_dna(source, seen)]
    over = max(len(lines) - LINES, 0)
    return [*_dna(source, seen, max(len(seen.dna) - over - 1, 1))] if over else lines


def _dna(source: SourceRow, seen: _Seen, records: int = RECORDS) -> Iterator[str]:
    totals = source.totals
    if totals is None:
        yield _title(source)
        return
    yield f"{_title(source)}: {count(totals.num_seqs, 'record')}, {totals.sum_len:,} bp"
    for name, value in _facts(totals, seen):
        yield f"  {name:<13}{value}"
    if not seen.dna:
        return
    table = [("record", "bp", "GC %", "N", "bits", "topology", "class", "genes", "cut short")]
    for row in seen.dna[:records]:
        figures = (number(row.gc, 2), f"{row.n:,}", number(row.bits_per_base, 3))
        table.append(
            (
                _name(row),
                f"{row.length:,}",
                *figures,
                row.topology,
                _class(row),
                "" if row.findings.genes is None else f"{row.findings.genes.number:,}",
                "yes" if row.truncated else "",
            )
        )
    yield ""
    yield from aligned(table)
    if totals.num_seqs > len(seen.dna[:records]):
        yield f"  … and {totals.num_seqs - len(seen.dna[:records]):,} more"
    if seen.region_count > totals.num_seqs:
        first = f", the first {len(seen.regions)}" if len(seen.regions) < seen.region_count else ""
        costs = f"{seen.bits_regions:,} regions of like bits, " if seen.bits_regions else ""
        yield f"  {costs}{seen.region_count:,} regions of one composition{first}:"
        for region in seen.regions:
            skew = number(region.gc_skew, 3)
            yield f"    {_place(region.interval)}  GC {number(region.gc, 2)} %, GC skew {skew}"
    if seen.surprising:
        yield "  most surprising windows, z within their record:"
        for _, _, _, name, window in sorted(seen.surprising, reverse=True):
            where = Interval(record=name, start=window.start, end=window.end)
            yield f"    {_place(where)}  {window.bits:.3f} bits a base, z {number(window.z, 1)}"


def _facts(totals: Totals, seen: _Seen) -> Iterator[tuple[str, str]]:
    if totals.sampled is not None:
        read = f"{totals.sampled:,} of {count(totals.num_seqs, 'record')} read, {totals.sampled_len:,} bp"
        yield "sample", f"{read}; lengths are of all, all else is of these"
    if totals.short:
        yield "left out", f"{count(totals.short, 'record')} too short, {totals.short_len:,} bp"
    if seen.dna:
        yield "GC", f"{number(totals.gc, 2)} % of A, C, G, T; {number(totals.gc_of_length, 2)} % of all letters"
        gaps = f"{totals.sum_n:,} in {count(totals.gaps, 'gap')}, the longest {totals.longest_gap:,}"
        yield "N", f"{gaps}; {number(totals.n_per_100kbp, 1)} per 100 kbp; other codes {totals.iupac:,}"
    if totals.num_seqs > 1:
        spread = f"{totals.min_len:,} to {totals.max_len:,}, mean {number(totals.avg_len, 1)}"
        quartiles = ", ".join(number(q, 1) for q in (totals.q1, totals.q2, totals.q3))
        yield "lengths", f"{spread}; quartiles {quartiles}"
        n50 = f"N50 {totals.n50:,} (L50 {totals.l50:,}), N90 {totals.n90:,} (L90 {totals.l90:,})"
        yield "", f"{n50}, auN {number(totals.au_n, 1)}"
        repeated = f"{count(totals.duplicate_ids, 'id')}, {count(totals.duplicate_sequences, 'sequence')}"
        yield "repeated", f"{repeated}; empty {totals.empty:,}"
    if totals.softmask is not None:
        yield "soft mask", f"{totals.softmask:.2f} % in lower case"
    if totals.average_quality is not None:
        shares = f"Q20 {number(totals.q20, 2)} %, Q30 {number(totals.q30, 2)} %"
        yield "quality", f"{shares}, mean error as Q{totals.average_quality:.2f}"
    if totals.bits_per_base is not None:
        only = seen.dna[0] if totals.num_seqs == 1 and seen.dna else None
        against = "" if only is None else f"; entropy of order 0 {number(only.order0_bits, 3)}"
        against += "" if only is None or only.order2_bits is None else f", of order 2 {only.order2_bits:.3f}"
        if only is not None and only.findings.markov_bits:
            best = min(only.findings.markov_bits.items(), key=lambda item: item[1])
            against += f"; adaptive Markov {best[1]:.3f} (order {best[0][5:]})"
        yield "bits a base", f"{totals.bits_per_base:.3f}{against}{seen.findings.novelty()}"
    yield from seen.findings.lines()
    if totals.num_seqs == 1 and seen.dna and (skew := seen.dna[0].skew) is not None:
        chance = f"{skew.null_mean:,.0f} by chance, p {skew.p:.3g}"
        yield (
            "GC skew",
            f"cumulative, trend removed: spans {skew.amplitude:,.0f} G - C ({chance}), "
            f"lowest near {skew.lowest:,}, highest near {skew.highest:,}",
        )
    if seen.windows and seen.spans:
        # The last window of a record may be a base, all G: few letters tell nothing, unless there are no others.
        full = seen.full > 0
        told = {name: seen.spans[name, full] for name in SPANS if (name, full) in seen.spans}
        which = f", of the {seen.full:,} at least half full" if 0 < seen.full < seen.windows else ""
        spans = ", ".join(SPANS[name].format(_span(span)) for name, span in told.items())
        yield "windows", f"{seen.windows:,}{which}: {spans}"


def _name(row: SequenceRow) -> str:
    """Of a part, its place as well: several may be of one record."""
    if "offset" in row.notes:
        return _place(Interval(record=row.id, start=row.start, end=row.start + row.length))
    return shortened(row.id) or NAMELESS


def _class(row: SequenceRow) -> str:
    classes = row.findings.classes
    if classes is None or classes.probability is None:
        return "" if classes is None else classes.label
    return f"{shortened(classes.label, 20)} ({classes.probability:.2f})"


def _documents(source: SourceRow, documents: Sequence[DocumentSummary]) -> Iterator[str]:
    if source.records == 1 and documents:
        yield from summary_lines(_title(source), documents[0])
        return
    yield f"{_title(source)}: {count(source.records, 'document')}, {source.length:,} code points"
    table = [("document", "words", "begins")]
    for summary in documents:
        text = " ".join(summary.sentences[0].text.split()) if summary.sentences else ""
        table.append((shortened(summary.id), f"{summary.words:,}", shortened(text, 60)))
    yield from aligned(table)
    if source.records > len(documents):
        yield f"  … and {source.records - len(documents):,} more; --format md or --json prints every summary"


def _sources(sources: Sequence[SourceRow]) -> Iterator[str]:
    yield count(len(sources), "input")
    table = [("file", "kind", "records", "letters", "GC %", "N", "N50", "bits")]
    for source in sources[:SOURCES]:
        t = source.totals
        figures = ("", "", "", "")
        if t is not None:
            n50 = "NA" if t.n50 is None else f"{t.n50:,}"
            figures = (number(t.gc, 2), f"{t.sum_n:,}", n50, number(t.bits_per_base, 3))
        kind = "unreadable" if source.kind is None else source.kind
        table.append((ending(source.file), kind, f"{source.records:,}", f"{source.length:,}", *figures))
    yield from aligned(table)
    if len(sources) > SOURCES:
        yield f"  … and {len(sources) - SOURCES:,} more"


def _title(source: SourceRow) -> str:
    packed = "" if source.container in (None, "plain") else f", {source.container}"
    name = "standard input" if source.file == "-" else source.file
    return f"{name} ({source.format}{packed})"


def _widen(spans: dict[tuple[str, bool], tuple[float, float]], name: tuple[str, bool], values: np.ndarray) -> None:
    known = values[~np.isnan(values)]
    if len(known):
        low, high = spans.get(name, (np.inf, -np.inf))
        spans[name] = (min(low, float(known.min())), max(high, float(known.max())))


def _span(span: tuple[float, float]) -> str:
    low, high = (f"{x:.2f}" for x in span)
    return low if low == high else f"{low} to {high}"


def _place(interval: Interval) -> str:
    """As `--region` takes it, 1-based and closed, but for the end of a long name."""
    return f"{shortened(interval.record) or NAMELESS}:{interval.start + 1:,}-{interval.end:,}"
