"""Totals of each input of DNA, and what a reader should know before trusting them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from longseq.log import count
from longseq.report.findings import FindingsSeen
from longseq.report.lines import number
from longseq.report.page import Markup, element, named_facts, table
from longseq.report.report_page import Facts
from longseq.results.source import SourceRow
from longseq.results.totals import Totals

INPUTS = 200
"""In the table; `files.tsv` has all."""
WARNED = 50
"""Warnings that are shown."""
HEAD = ("input", "records", "bp", "GC, %", "N", "N50, bp", "longest, bp", "soft-masked, %", "bits a base")


def totals(facts: Facts, findings: Mapping[int, FindingsSeen]) -> list[Markup]:
    """`findings` by the place of the input."""
    known = [(at, one) for at, one in enumerate(facts.sources) if one.totals is not None]
    parts = _warned(facts.sources, facts.samples, findings)
    if len(known) == 1:
        at, source = known[0]
        assert source.totals is not None
        facts_of = [*_facts(source.totals), *findings.get(at, FindingsSeen()).lines()]
        if source.totals.bits_per_base is not None:
            said = findings.get(at, FindingsSeen()).novelty()
            facts_of.append(("bits a base", f"{source.totals.bits_per_base:.3f}, by the model {facts.run.model}{said}"))
        return [*parts, named_facts(facts_of, "Totals")]
    rows = [_row(facts.samples[at], one.totals) for at, one in known[:INPUTS] if one.totals is not None]
    there = [i for i in range(len(HEAD)) if any(row[i] not in ("NA", "0.00") for row in rows)]
    shown = [[row[i] for i in there] for row in rows]
    parts.append(table([HEAD[i] for i in there], shown, "Totals of each input"))
    if len(known) > INPUTS:
        parts.append(element("p", f"… and {len(known) - INPUTS:,} more, in files.tsv.", class_="facts"))
    return parts


def _row(sample: str, found: Totals) -> list[str]:
    return [
        sample,
        f"{found.num_seqs:,}",
        f"{found.sum_len:,}",
        number(found.gc, 2),
        f"{found.sum_n:,}",
        number(found.n50, 0),
        number(found.max_len, 0),
        number(found.softmask, 2),
        number(found.bits_per_base, 3),
    ]


def _facts(found: Totals) -> Iterator[tuple[str, str]]:
    yield "records", f"{found.num_seqs:,}"
    yield "letters", f"{found.sum_len:,} bp"
    yield "GC", f"{number(found.gc, 2)} % of A, C, G, T; {number(found.gc_of_length, 2)} % of all letters"
    gaps = f"{found.sum_n:,} in {count(found.gaps, 'gap')}, the longest {found.longest_gap:,} bp"
    yield "N", f"{gaps}; {number(found.n_per_100kbp, 1)} per 100 kbp"
    if found.iupac:
        yield "other codes", f"{found.iupac:,}"
    if found.num_seqs > 1:
        quartiles = ", ".join(number(q, 1) for q in (found.q1, found.q2, found.q3))
        yield "lengths", f"{number(found.min_len, 0)} to {number(found.max_len, 0)} bp, quartiles {quartiles}"
        n50 = f"N50 {number(found.n50, 0)} bp (L50 {number(found.l50, 0)})"
        n90 = f"N90 {number(found.n90, 0)} bp (L90 {number(found.l90, 0)})"
        yield "contiguity", f"{n50}, {n90}, auN {number(found.au_n, 1)} bp"
    if found.softmask is not None:
        yield "soft-masked", f"{found.softmask:.2f} % in lower case"
    if found.average_quality is not None:
        shares = f"Q20 {number(found.q20, 2)} %, Q30 {number(found.q30, 2)} %"
        yield "quality", f"{shares}, mean error as Q{found.average_quality:.2f}"


def _warned(sources: Sequence[SourceRow], samples: Sequence[str], findings: Mapping[int, FindingsSeen]) -> list[Markup]:
    """A list of warnings, if there are any."""
    found = []
    for at, (source, sample) in enumerate(zip(sources, samples, strict=True)):
        before = f"{sample}: " if len(sources) > 1 else ""
        found += [before + line for line in _of(source.totals)] if source.totals is not None else []
        if at in findings and (outside := findings[at].outside):
            found.append(f"{before}{count(outside, 'record')} out of the model's range: bits a base say less there")
    if not found:
        return []
    more = [f"… and {len(found) - WARNED:,} more"] if len(found) > WARNED else []
    lines = (element("li", line) for line in [*found[:WARNED], *more])
    return [element("ul", *lines, class_="warn", aria_label="Warnings")]


def _of(found: Totals) -> Iterator[str]:
    if found.sampled is not None:
        read = f"{found.sampled:,} of {count(found.num_seqs, 'record')} were read ({found.sampled_len or 0:,} bp)"
        yield f"a sample: {read}; totals of lengths are of all records, all else is of these"
    if found.short:
        yield f"{count(found.short, 'record')} left out as too short ({found.short_len:,} bp)"
    if found.duplicate_ids:
        yield f"{count(found.duplicate_ids, 'record')} with a name that stood before"
    if found.duplicate_sequences:
        yield f"{count(found.duplicate_sequences, 'record')} with a sequence that stood before"
    if found.empty:
        yield f"{count(found.empty, 'record')} without a letter"
