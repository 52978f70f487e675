"""What lies along a document: the worth of its sentences as a figure, and its sections as a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from longseq.log import count
from longseq.report.document_page.places import Known, document_of, documents, link, listed, titles
from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Boxes, Panel, Points, View
from longseq.report.lines import shortened
from longseq.report.page import Markup, element, table
from longseq.results.document import DocumentSummary
from longseq.results.salience import Salience, SectionShare

ROWS = 40
"""Of the figure's table."""
WORDS = 110
"""Letters of a sentence or a title that a pointer shows."""
LEVELS, BANDS = 3, 150
"""Levels of sections and sections that are drawn at most."""
LEAST = 10
"""Sentences to choose from, fewer of which need no figure."""
FEW = 24
"""Sections that are listed without being asked for."""
WORTH, CHOSEN, GAVE, REST = 5, 1, 0, 7
"""Colours."""


def worth_drawing(found: Salience | None) -> bool:
    """Whether there is something to see: of a few sentences, or of some that have nothing in common, there is not."""
    return found is not None and sum(found.sentences) >= LEAST and max(found.worth) > 0


def salience_figure(summary: DocumentSummary, found: Salience, name: str) -> Markup:
    """Bars of the highest worth along the text, the chosen sentences as points, the sections below."""
    panels = [Panel(y=Axis(label="worth", low=0, high=1.08), marks=_marks(summary, found), height=200)]
    levels = _levels(summary)
    if levels:
        named = {-level - 0.5: str(level + 1) for level in range(levels)}
        axis = Axis(label="section", low=-levels, high=0, ticks=named)
        panels.append(Panel(y=axis, marks=[_bands(summary, levels)], height=20 + 17 * levels))
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
    before = _before(summary)
    places = [before[document_of(row)] + ((row.start or 0) + (row.end or 0)) / 2 for row in summary.sentences]
    said = [
        f"{number}. {shortened(' '.join(row.text.split()), WORDS)} ({worth:.2f})"
        for number, (row, worth) in enumerate(zip(summary.sentences, found.chosen, strict=True), 1)
    ]
    nothing = [0.0] * len(bars)
    return [
        Boxes(name="best here", x0=found.start, x1=found.end, y0=nothing, y1=found.worth, colour=WORTH, labels=bars),
        Points(name="in the summary", x=places, y=found.chosen, colour=CHOSEN, size=9, labels=said),
    ]


def _before(summary: DocumentSummary) -> dict[Known, int]:
    """Code points before each document."""
    starts = accumulate((one.length for one in summary.documents), initial=0)
    return dict(zip(documents(summary), starts, strict=False))


def _titled(summary: DocumentSummary) -> list[SectionShare]:
    return [share for share in summary.outline if share.title]


def _levels(summary: DocumentSummary) -> int:
    """The outermost ones that have room."""
    depths = [_depth(share) for share in _titled(summary)]
    fitting = [level for level in range(1, LEVELS + 1) if sum(depth <= level for depth in depths) <= BANDS]
    return min(max(fitting, default=1), max(depths, default=0))


def _depth(share: SectionShare) -> int:
    return share.title.count(" > ") + 1


def _bands(summary: DocumentSummary, levels: int) -> Boxes:
    shares = [share for share in _titled(summary) if _depth(share) <= levels]
    return Boxes(
        name="sections",
        x0=[share.start for share in shares],
        x1=[share.end for share in shares],
        y0=[-_depth(share) + 0.1 for share in shares],
        y1=[-_depth(share) + 0.9 for share in shares],
        colour=[GAVE if share.chosen else REST for share in shares],
        names={GAVE: "sections that gave sentences", REST: "others"},
        labels=[shortened(titles(share.title), WORDS) for share in shares],
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


def sections_table(summary: DocumentSummary, name: str) -> Markup:
    """The outline, how much of the text each section is, and which sentences of the summary it gave."""
    rows, before = [], -1
    for share in summary.outline:
        if summary.documents and share.document != before:
            one, before = summary.documents[share.document], share.document
            rows.append([element("b", f"{one.file} ({one.id})"), "", "", ""])
        rows.append(_share(share, max(summary.words, 1), name))
    found = table(("section", "in the summary", "words", "sentences"), rows, "Sections of the text")
    left = f"{summary.outline_cut:,} more, inner or later ones, are not listed." if summary.outline_cut else ""
    parts: Sequence[object] = [found, *([element("p", left, class_="facts")] if left else [])]
    if len(summary.outline) <= FEW:
        return Markup("".join(map(str, parts)))
    return element("details", element("summary", f"{count(len(summary.outline), 'section')}"), *parts)


def _share(share: SectionShare, words: int, name: str) -> list[Markup | str]:
    title = share.title.rsplit(" > ", 1)[-1] or "(before the first title)"
    part = 100 * share.words / words
    bar = element("i", "", class_="share", style=f"width:{part:.1f}%")
    links = [link(listed(name, at), at + 1) for at in share.chosen]
    return [
        element("span", title, dir="auto", class_=f"in{min(_depth(share), 6)}"),
        Markup(" ".join(links)),
        element("div", f"{share.words:,} ({part:.1f} %)", bar, class_="words"),
        f"{share.sentences:,}",
    ]
