"""What lies along a document as a figure: the worth of its sentences, and its sections below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from longseq.log import count
from longseq.report.document_page.places import document_of, documents, roots
from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Boxes, Panel, Points, View
from longseq.report.lines import ending, shortened
from longseq.report.page import Markup, table
from longseq.results.document import DocumentSummary
from longseq.results.salience import Salience

ROWS = 40
"""Of the figure's table."""
WORDS = 110
"""Letters of a sentence or a title that a pointer shows."""
LEVELS, BANDS = 3, 150
"""Levels of sections and sections that are drawn at most."""
LEAST = 10
"""Sentences to choose from, fewer of which need no figure."""
WORTH, CHOSEN, GAVE, REST = 5, 1, 0, 7
"""Colours."""


def worth_drawing(found: Salience | None) -> bool:
    """Whether there is something to see: of a few sentences, or of some that have nothing in common, there is not."""
    return found is not None and sum(found.sentences) >= LEAST and max(found.worth) > 0


def salience_figure(summary: DocumentSummary, found: Salience, name: str) -> Markup:
    """Bars of the highest worth along the text, the chosen sentences as points, the sections below."""
    panels = [Panel(y=Axis(label="worth", low=0, high=1.08), marks=_marks(summary, found), height=200)]
    known = bands(summary)
    if known:
        levels = 1 + max(band.level for band in known)
        named = {-level - 0.5: str(level + 1) for level in range(levels)}
        axis = Axis(label="section", low=-levels, high=0, ticks=named)
        panels.append(Panel(y=axis, marks=[_strip(known)], height=20 + 17 * levels))
    many = sum(found.sentences) > len(found.sentences)
    best = "its part" if summary.by else "all"
    caption = (
        f"What sentences are worth, 1 being the best of {best}. A high bar without a dot repeats what was chosen, or "
        "did not fit."
    )
    note = f"A bar is the best of several of {sum(found.sentences):,} sentences." if many else "A bar is a sentence."
    x = Axis(label="code points of the text" + (", one document behind the other" if summary.documents else ""))
    view = View(x=Axis(label=x.label, low=0, high=summary.length), panels=panels, note=note)
    return figure(f"salience-{name}", [view], caption, _table(found), zoom=True)


def _marks(summary: DocumentSummary, found: Salience) -> list[Boxes | Points]:
    bars = [
        f"{worth:.2f}, {'the best of ' + count(many, 'sentence') if many > 1 else 'a sentence'}, {start:,} to {end:,}"
        for worth, many, start, end in zip(found.worth, found.sentences, found.start, found.end, strict=True)
    ]
    said = [
        f"{number}. {shortened(' '.join(row.text.split()), WORDS)} ({worth:.2f})"
        for number, (row, worth) in enumerate(zip(summary.sentences, found.chosen, strict=True), 1)
    ]
    nothing = [0.0] * len(bars)
    return [
        Boxes(name="best here", x0=found.start, x1=found.end, y0=nothing, y1=found.worth, colour=WORTH, labels=bars),
        Points(name="in the summary", x=chosen_places(summary), y=found.chosen, colour=CHOSEN, size=9, labels=said),
    ]


def chosen_places(summary: DocumentSummary) -> list[float]:
    """The middle of each sentence of the summary, in code points of all documents together."""
    known, starts = documents(summary), _starts(summary)
    # of a document that was given twice the first counts: what the second one says repeats it
    before = {known[at]: starts[at] for at in reversed(range(len(known)))}
    return [before[document_of(row)] + ((row.start or 0) + (row.end or 0)) / 2 for row in summary.sentences]


def _starts(summary: DocumentSummary) -> list[int]:
    """Code points before each document, and before the end."""
    return [*accumulate((one.length for one in summary.documents), initial=0)]


class Band(NamedTuple):
    """A stretch of the text that has a name: a document, a section."""

    level: int
    """0 is outermost."""
    start: int
    end: int
    name: str
    gave: bool
    """Whether a sentence of the summary stands in it."""


def bands(summary: DocumentSummary) -> list[Band]:
    """Documents, where they are many, and sections, but for a title that is above all of its document."""
    found, above, known = [], roots(summary), documents(summary)
    gave = set(map(document_of, summary.sentences))
    for one, key, start in zip(summary.documents, known, _starts(summary), strict=False):
        name = shortened(f"{one.description or above.get(key) or one.id} ({ending(one.file)})", WORDS)
        found.append(Band(0, start, start + one.length, name, key in gave))
        gave.discard(key)
    for share in summary.outline:
        *outer, title = share.title.split(" > ")
        level = len(outer) - (known[share.document] in above)
        if title and level >= 0:
            name = f"{shortened(title, WORDS)}, {count(share.words, 'word')}"
            found.append(Band(level + bool(summary.documents), share.start, share.end, name, bool(share.chosen)))
    fitting = [level for level in range(LEVELS) if sum(band.level <= level for band in found) <= BANDS]
    return [band for band in found if band.level <= max(fitting, default=0)]


def _strip(bands: Sequence[Band]) -> Boxes:
    return Boxes(
        name="sections",
        x0=[band.start for band in bands],
        x1=[band.end for band in bands],
        y0=[-band.level - 0.9 for band in bands],
        y1=[-band.level - 0.1 for band in bands],
        colour=[GAVE if band.gave else REST for band in bands],
        names={GAVE: "sections that gave sentences", REST: "others"},
        labels=[band.name for band in bands],
    )


def _table(found: Salience) -> Markup:
    """The figure in few rows."""
    step = -(-len(found.start) // ROWS) or 1
    rows = [
        (
            f"{found.start[at]:,}",
            f"{found.end[min(at + step, len(found.end)) - 1]:,}",
            f"{sum(found.sentences[at : at + step]):,}",
            f"{max(found.worth[at : at + step]):.2f}",
        )
        for at in range(0, len(found.start), step)
    ]
    return table(("from", "to", "sentences", "best worth"), rows, "Worth of sentences along the text")
