"""`plots/` of a run over documents: what the sentences of each are worth along it, and what was chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from longseq.report.document_page.along import Band, bands, chosen_places, worth_drawing
from longseq.report.document_page.places import title_of
from longseq.report.lines import shortened as first
from longseq.report.plots.canvas import COLOURS, DOUBLE, GRID, INK, SOFT, engineering, save, sheet, shortened
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary
from longseq.results.salience import Salience

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 12
"""Documents that have a picture: the first."""
LETTERS = 140
"""Of the names of sections, across the whole text."""
FEWEST = 5
"""Letters that a band has room for at least, or it has no name."""


class Drawn(NamedTuple):
    """What is kept of a document until it is drawn."""

    title: str
    length: int
    """Code points."""
    salience: Salience
    places: list[float]
    """Of the sentences chosen."""
    bands: list[Band]


class DocumentPlots:
    """Takes summaries as they come."""

    def __init__(self) -> None:
        self._kept: list[Drawn] = []
        self._seen = 0

    def dna(self, summary: RecordSummary) -> None:
        """DNA is drawn elsewhere."""

    def document(self, summary: DocumentSummary) -> None:
        found = summary.salience
        if found is None or not worth_drawing(found):
            return
        self._seen += 1
        if len(self._kept) < SHOWN:
            places = chosen_places(summary)
            self._kept.append(Drawn(title_of(summary), summary.length, found, places, bands(summary)))

    def save(self, folder: Path, kinds: Sequence[str]) -> list[str]:
        """`document_01` and so on of those with enough sentences to choose from; the names of the pictures."""
        names = []
        for number, drawn in enumerate(self._kept, 1):
            rank = f"number {number} of {self._seen:,}" if self._seen > 1 else ""
            names.append(f"document_{number:02}")
            save(folder, names[-1], kinds, partial(document_picture, drawn, rank))
        return names


def document_picture(found: Drawn, rank: str) -> Figure:
    """Bars of the highest worth along the text, dots for the sentences of the summary, sections below."""
    levels = 1 + max((band.level for band in found.bands), default=-1)
    drawn = sheet(DOUBLE, 1.9 + 0.16 * levels, layout="constrained")
    heights = [1.3, 0.16 * levels] if levels else [1.0]
    panels: list[Axes] = list(drawn.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
    worth, known = panels[0], found.salience
    start, end = np.array(known.start), np.array(known.end)
    worth.bar(start, known.worth, end - start, align="edge", color=COLOURS[5], linewidth=0, label="best here")
    worth.plot(found.places, known.chosen, "o", color=COLOURS[1], markersize=3, label="in the summary")
    worth.set(ylabel="worth", ylim=(0, 1.08), xlim=(0, found.length))
    worth.set_title(shortened(found.title, 70), loc="left")
    note_of = f"{sum(known.sentences):,} sentences to choose from" + (f";  {rank}" if rank else "")
    worth.set_title(note_of, loc="right", color=SOFT, fontsize=6.5)
    for band in found.bands:
        fill: dict[str, Any] = {"facecolor": COLOURS[0] if band.gave else GRID, "edgecolor": "white", "linewidth": 0.5}
        panels[1].barh(band.level, band.end - band.start, 0.86, band.start, **fill)
        room = int(LETTERS * (band.end - band.start) / found.length)
        if room >= FEWEST:
            at = (band.start + 0.004 * found.length, band.level)
            words: dict[str, Any] = {"fontsize": 5.5, "color": "white" if band.gave else INK, "va": "center_baseline"}
            panels[1].text(*at, first(re.sub(r", [\d,]+ words?$", "", band.name), room), clip_on=True, **words)
    if levels:
        panels[1].set(ylim=(levels - 0.5, -0.5), yticks=[], ylabel="sections")
        panels[1].grid(visible=False)
        panels[1].spines["left"].set_visible(False)
    panels[-1].set_xlabel("code points of the text" + ("; blue: sections that gave sentences" if levels else ""))
    engineering(panels[-1].xaxis)
    drawn.legend(*worth.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    drawn.align_ylabels(panels)
    return drawn
