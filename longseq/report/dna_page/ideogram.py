"""Tracks along the longest records, one record at a time: windows, or bins of windows with their peaks, and regions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longseq.log import count
from longseq.report.dna_page.strips import Classes, classes_of, strips
from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Mark, Panel, Points, Rule, Track, View
from longseq.report.gathered.bins import Bins
from longseq.report.gathered.longest import LongRecord
from longseq.report.lines import number, shortened
from longseq.report.page import Markup, element, table
from longseq.results.dna import SurprisingWindow

HEIGHT = 92
"""Of a track, pixels."""
ROOM = 0.08
"""Above and below what is shown, of its height."""


class Shown(NamedTuple):
    """How a column of windows is shown."""

    axis: str
    name: str
    unit: str
    colour: int


TRACKS = {
    "gc": Shown("GC, %", "GC", "%", 0),
    "gc_skew": Shown("GC skew", "GC skew", "", 1),
    "entropy_triplet": Shown("entropy, bits", "entropy of triplets", "bits", 2),
    "softmask": Shown("masked, %", "soft-masked", "%", 6),
    "bits": Shown("bits a base", "model", "bits a base", 3),
}
COLUMNS = tuple(TRACKS)


def ideogram(records: Sequence[LongRecord], seen: int, window: int, samples: Sequence[str]) -> list[Markup]:
    """The figure of `records`, longest first, out of `seen` that have something to show; nothing without any.

    `samples` are names of the inputs where there are several.
    """
    if not records:
        return []
    classes = classes_of(records)
    views = [_view(one, samples, classes) for one in records]
    which = f"The longest {len(views)} of {count(seen, 'record')}. " if seen > len(views) else ""
    caption = (
        f"{which}Figures of windows of {window:,} bp along a record. Zoom in to see fewer bases a point; where a point "
        "is of several windows, the shade behind the line reaches from the lowest to the highest of them."
    )
    return [figure("dna-ideogram", views, caption, zoom=True), *_skews(records, samples)]


def _view(one: LongRecord, samples: Sequence[str], classes: Classes) -> View:
    row = one.summary.row
    panels = []
    for name in COLUMNS:
        if name in one.tracks and (name != "softmask" or np.nanmax(one.tracks[name].high) > 0):
            panels.append(_panel(one.tracks[name], TRACKS[name], row.surprising if name == "bits" else ()))
        if name == "gc_skew":
            panels.append(_walk(one))
    below, left = strips(one, classes)
    finest = max((len(bins.start) for bins in one.tracks.values()), default=one.windows)
    joined = -(-one.windows // finest)
    kept = "each is here" if joined == 1 else f"the finest point is {joined} of them, windows.parquet has each"
    note = "; ".join([f"{one.windows:,} windows, {kept}", *left])
    across = Axis(label="position, bp", low=row.start, high=row.start + row.length, places=True)
    return View(name=_name(one, samples), note=f"{note}.", x=across, panels=[*panels, *below])


def _panel(bins: Bins, shown: Shown, surprising: Sequence[SurprisingWindow]) -> Panel:
    low, high = float(np.nanmin(bins.low)), float(np.nanmax(bins.high))
    peaks = bool(np.nanmax(bins.high - bins.low) > 0)
    track = Track(
        name=shown.name,
        start=int(bins.start[0]),
        step=int(bins.end[0] - bins.start[0]),
        stop=int(bins.end[-1]),
        mean=bins.mean,
        low=bins.low if peaks else None,
        high=bins.high if peaks else None,
        colour=shown.colour,
        unit=shown.unit,
    )
    marks: list[Mark] = [track]
    if low < 0 < high:
        marks.append(Rule(at=0, label="", along="y"))
    if surprising:
        marks.append(_surprising(surprising))
        high = max(high, *(window.bits for window in surprising))
    room = ROOM * (high - low) or 0.5
    return Panel(y=Axis(label=shown.axis, low=low - room, high=high + room), marks=marks, height=HEIGHT)


def _surprising(windows: Sequence[SurprisingWindow]) -> Points:
    return Points(
        name="most surprising windows",
        x=[(one.start + one.end) / 2 for one in windows],
        y=[one.bits for one in windows],
        colour=4,
        size=8,
        labels=[f"{o.start + 1:,} to {o.end:,}: {o.bits:.3f} bits a base, z {number(o.z, 1)}" for o in windows],
    )


def _walk(one: LongRecord) -> Panel:
    ends, sums = one.skew
    row = one.summary.row
    track = Track(
        name="cumulative G − C",
        start=row.start,
        step=int(ends[0]) - row.start,
        stop=int(ends[-1]),
        mean=sums,
        colour=5,
        unit="bases",
    )
    marks: list[Mark] = [track]
    if row.skew is not None:
        marks += [Rule(at=row.skew.lowest, label="lowest"), Rule(at=row.skew.highest, label="highest")]
    low, high = float(sums.min()), float(sums.max())
    room = ROOM * (high - low) or 0.5
    return Panel(y=Axis(label="sum of G − C", low=low - room, high=high + room), marks=marks, height=HEIGHT)


def _name(one: LongRecord, samples: Sequence[str]) -> str:
    row = one.summary.row
    part = f":{row.start + 1:,}-{row.start + row.length:,}" if row.start or "offset" in row.notes else ""
    sample = f" ({shortened(samples[one.summary.source], 24)})" if samples else ""
    return f"{shortened(row.id) or '(no id)'}{part}{sample}, {row.length:,} bp"


def _skews(records: Sequence[LongRecord], samples: Sequence[str]) -> Iterator[Markup]:
    """A table of cumulative skews against chance."""
    rows = [
        (
            _name(one, samples),
            f"{skew.amplitude:,.0f}",
            f"{skew.null_mean:,.0f}",
            f"{skew.p:.3g}",
            f"{skew.lowest:,}",
            f"{skew.highest:,}",
        )
        for one in records
        if (skew := one.summary.row.skew) is not None
    ]
    if rows:
        head = ("record", "span, G − C", "span by chance", "p", "lowest near, bp", "highest near, bp")
        what = (
            "The running sum of G − C, its trend removed, against windows in shuffled order. In many bacteria it is "
            "lowest near the origin of replication and highest near the terminus."
        )
        parts = (element("p", what, class_="facts"), table(head, rows, "Cumulative GC skew of each record"))
        yield element("details", element("summary", "Cumulative GC skew of each record"), *parts)
