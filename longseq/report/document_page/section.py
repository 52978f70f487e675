"""A document as a section of the page."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.report.document_page.along import salience_figure
from longseq.report.document_page.answers import answers
from longseq.report.document_page.outline import sections_table
from longseq.report.document_page.places import minutes, title_of
from longseq.report.document_page.quotes import contexts, lists
from longseq.report.page import Markup, element
from longseq.results.document import GENERATED, ONE_PASS, DocumentSummary

STYLE = """
ol.summary, ol.answers { padding-left: 2.2em; max-width: 48em; } ol.summary li, ol.answers li { margin: .5em 0; }
ol.summary a { color: inherit; text-decoration: underline var(--line) 1px; text-underline-offset: .2em; }
ol.summary a:hover { text-decoration-color: var(--link); }
article { margin: 1.4em 0; padding-left: .9em; border-left: 3px solid var(--line); max-width: 48em; }
article p { margin: .4em 0; } ol bdi, article .text { font: 16px/1.55 Georgia, "Noto Serif", serif; }
mark:focus { outline: 2px solid var(--link); outline-offset: 2px; }
.answer { text-decoration: underline dotted var(--c4) 2px; }
i.share { display: block; height: .3em; min-width: 1px; background: var(--c5); }
[class^=in] { display: block; } .words { white-space: nowrap; }
.in1 { padding-left: 1em; } .in2 { padding-left: 2em; } .in3 { padding-left: 3em; } .in4 { padding-left: 4em; }
.in5 { padding-left: 5em; }
@media print { article, ol.summary li, ol.answers li { break-inside: avoid; } h2, h3, .place { break-after: avoid; }
  i.share { print-color-adjust: exact; } }
"""


def document_section(summary: DocumentSummary, number: int, figure: bool) -> Markup:
    """A document, known on the page as `d` and its number: its title in the first line, everything else behind it.

    `figure` says whether there is room for a figure.
    """
    name = f"d{number}"
    head = element("h2", title_of(summary), dir="auto")
    parts = "".join(f"{part}\n" for part in _parts(summary, name, figure))
    return Markup(f'<section id="{name}">{head}\n{parts}</section>\n')


def section_contents(summary: DocumentSummary, number: int, figure: bool) -> list[tuple[str, str]]:
    """Places in that section, by id, and what they are called."""
    parts = {
        "answers": ("Answers", summary.hits),
        "along": ("Along the text", figure),
        "sections": ("Sections", summary.outline),
        "context": ("In context", summary.contexts),
    }
    inner = [(f"d{number}-{place}", words) for place, (words, there) in parts.items() if there]
    return [(f"d{number}", "Summary"), *inner]


def _parts(summary: DocumentSummary, name: str, figure: bool) -> Iterator[Markup]:
    yield from _head(summary)
    yield from lists(summary, name)
    if summary.hits:
        heading = f"Answers to “{'”, “'.join(summary.queries)}”"
        yield element("h3", heading, dir="auto", id=f"{name}-answers")
        yield element("p", _answered(summary), class_="facts")
        yield answers(summary, name)
    if figure and summary.salience is not None:
        yield element("h3", "Along the text", id=f"{name}-along")
        yield salience_figure(summary, summary.salience, name)
    if summary.method == ONE_PASS:
        yield element("p", "Of one pass nothing is known along the text, nor of its sections.", class_="facts")
    if summary.outline:
        yield element("h3", "Sections", id=f"{name}-sections")
        yield sections_table(summary, name)
    if summary.contexts:
        yield element("h3", "In context", id=f"{name}-context")
        yield from contexts(summary, name)
    yield _source(summary)


def _head(summary: DocumentSummary) -> Iterator[Markup]:
    chosen = f"{len(summary.sentences):,} of {summary.sentences_total:,} sentences"
    words = f"{summary.summary_words:,} of {summary.words:,} words"
    part = {"outline": "entry of the outline"}.get(summary.by or "", summary.by)
    allowed = summary.budget if part is None else f"{summary.budget} for each {part}"
    whole, part_of_it = minutes(summary.reading_minutes), minutes(summary.summary_reading_minutes)
    read = f" Reading it takes {part_of_it}" + (f", the whole {whole}." if whole != part_of_it else ".")
    yield element("p", f"{chosen}, {words}; allowed: {allowed}.{read if summary.words else ''}", class_="facts")
    if summary.method == GENERATED:
        yield element("p", element("strong", "Not verbatim: written by a model."), class_="facts")
    if summary.queries:
        yield element("p", f"Asked: {'; '.join(summary.queries)}", class_="facts", dir="auto")
    notes = [*summary.remarks, *(["the file ended before the document did"] if summary.truncated else [])]
    if notes:
        missing = summary.truncated or summary.unread or summary.coverage < 1 or "bad_bytes" in summary.notes
        yield element("ul", *(element("li", note) for note in notes), class_="facts warn" if missing else "facts")


def _answered(summary: DocumentSummary) -> str:
    more = "The best, chosen or not" if any(hit.chosen is None for hit in summary.hits) else "The best"
    return f"{more}, 1.00 being the best of all; words of the question, in any form, are bold."


def _source(summary: DocumentSummary) -> Markup:
    documents = summary.documents or (summary,)
    lines = []
    for one in documents:
        facts = [f"{one.length:,} code points", f"{100 * one.coverage:.4g} % read", f"sha256 of the text {one.sha256}"]
        facts += [] if one.file_sha256 is None else [f"of the file {one.file_sha256}"]
        facts += [] if one.extractor is None else [f"read by {one.extractor}"]
        lines.append(element("p", "Source: ", element("bdi", f"{one.file} ({one.id})"), f", {', '.join(facts)}."))
    return element("footer", *lines)
