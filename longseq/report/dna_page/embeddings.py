"""Windows as points of a plane: those that the model reads alike lie near one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Panel, Points, Shade, View
from longseq.report.gathered.vector_map import MapPoints
from longseq.report.lines import shortened
from longseq.report.page import Markup, table

ROWS = 20
"""Records in the table."""
MANY = 300
"""Points from which they are smaller."""
COLOURS = 7
"""Of records, inputs or classes; the last colour is for all others."""


def embeddings(found: MapPoints | None, samples: Sequence[str]) -> list[Markup]:
    """The figure; nothing without vectors. `samples` are names of the inputs where there are several."""
    if found is None or len(found.places) < 3:
        return []
    labels = [
        f"{shortened(name) or '(no id)'}:{start + 1:,}-{end:,}, GC {gc:.1f} %"
        for name, start, end, gc in zip(
            found.names, found.start.tolist(), found.end.tolist(), found.gc.tolist(), strict=True
        )
    ]
    groups = {
        "record": [shortened(name) or "(no id)" for name in found.names],
        "input": [samples[at] for at in found.sources.tolist()] if samples else [],
        "class": found.classes if any(found.classes) else [],
    }
    gc = Shade(values=found.gc, label="GC, %", low=float(found.gc.min()), high=float(found.gc.max()))
    views = [_view("GC", found, [_points("window", found, slice(None), gc, labels)])]
    for name, of in groups.items():
        kinds = [kind for kind, _ in Counter(of).most_common()]
        if len(kinds) > 1:
            views.append(_view(name, found, _grouped(found, of, kinds, labels)))
    every = f", {len(found.places):,} of {found.all:,} of them" if found.all > len(found.places) else ""
    caption = (
        f"Mean hidden vectors of windows{every}, on the two directions in which they vary most. Windows that the model "
        "reads alike lie together; what lies apart is worth a look."
    )
    folded = table(("record", "windows", "first", "second", "GC, %"), _rows(found), "Means of records")
    return [figure("dna-embeddings", views, caption, folded, choose="Colour by")]


def _rows(found: MapPoints) -> Iterator[tuple[str, ...]]:
    """Of the records with most windows, whatever they are called: how many are shown, where they lie on average."""
    for record, many in Counter(found.records.tolist()).most_common(ROWS):
        of = np.flatnonzero(found.records == record)
        first, second = found.places[of].mean(0).tolist()
        name = shortened(found.names[of[0]]) or "(no id)"
        yield name, f"{many:,}", f"{first:.3g}", f"{second:.3g}", f"{found.gc[of].mean():.1f}"


def _view(name: str, found: MapPoints, marks: Sequence[Points]) -> View:
    first, second = found.shares
    up = Axis(label=f"second component, {second:.0f} %")
    return View(
        name=name,
        x=Axis(label=f"first component, {first:.0f} % of the variance"),
        panels=[Panel(y=up, marks=marks, height=420)],
    )


def _grouped(found: MapPoints, of: Sequence[str], kinds: Sequence[str], labels: Sequence[str]) -> list[Points]:
    place = {kind: min(at, COLOURS) for at, kind in enumerate(kinds)}
    colours = np.array([place[kind] for kind in of])
    named = {colour: kind if colour < COLOURS else "others" for kind, colour in place.items()}
    marks = [_points(named[colour], found, np.flatnonzero(colours == colour), colour, labels) for colour in named]
    return marks[::-1] if COLOURS in named else marks


def _points(
    name: str, found: MapPoints, chosen: slice | np.ndarray, colour: int | Shade, labels: Sequence[str]
) -> Points:
    some = range(len(labels))[chosen] if isinstance(chosen, slice) else chosen.tolist()
    places = found.places[chosen]
    return Points(
        name=name,
        x=places[:, 0],
        y=places[:, 1],
        colour=colour,
        size=5 if len(labels) > MANY else 8,
        labels=[labels[at] for at in some],
    )
