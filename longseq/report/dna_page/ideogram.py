"""Tracks along the longest records, one record at a time: windows, or bins of windows with their peaks, and regions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longseq.log import count
from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Boxes, Colour, Mark, Panel, Points, Rule, Shade, Track, View
from longseq.report.gathered.bins import Bins
from longseq.report.gathered.longest import LongRecord
from longseq.report.lines import number, shortened
from longseq.report.page import Markup, element, table

COLUMNS = ("gc", "gc_skew", "entropy_triplet", "softmask", "bits")
REGIONS = 400
"""Drawn of a record in one strip: the longest."""
CLASSES = 7
"""With a colour of their own; the last colour is for all others."""
TRACK, STRIP = 84, 30
"""Heights, pixels."""


class Shown(NamedTuple):
    """How a column of windows is shown."""

    label: str
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


class Stretch(NamedTuple):
    """A part of a record in one colour."""

    start: int
    end: int
    value: float
    words: str


def ideogram(records: Sequence[LongRecord], seen: int, window: int, samples: Sequence[str]) -> list[Markup]:
    """The figure of `records`, longest first, out of `seen` that have something to show; nothing without any.

    `samples` are names of the inputs where there are several.
    """
    if not records:
        return []
    gc = [region.gc for one in records for region in one.summary.regions if region.gc is not None]
    bits = [region.bits for one in records for region in one.summary.regions if region.bits is not None]
    shades = {"composition": _ends(gc), "bits": _ends(bits)}
    labels = _labels(records)
    views = [_view(one, window, samples, shades, labels) for one in records]
    which = f"The longest {len(views)} of {count(seen, 'record')}. " if seen > len(views) else ""
    caption = (
        f"{which}Figures of windows of {window:,} bp along a record. Zoom in to see fewer bases a point; where a point "
        "is of several windows, the shade behind the line reaches from the lowest to the highest of them."
    )
    return [figure("dna-ideogram", views, caption, zoom=True), *_skews(records, samples)]


def _view(
    one: LongRecord,
    window: int,
    samples: Sequence[str],
    shades: dict[str, tuple[float, float]],
    labels: dict[str, int],
) -> View:
    row = one.summary.row
    panels = [_track(one, name) for name in COLUMNS if name in one.tracks and _varies(one.tracks[name], name)]
    at = 2 if "gc_skew" in one.tracks else len(panels)
    panels[at:at] = [_walk(one)]
    notes = []
    for kind, label in (("composition", "GC"), ("bits", "bits")):
        found = [region for region in one.summary.regions if region.kind == kind]
        if len(found) > 1 or kind == "composition":
            values = [region.gc if kind == "composition" else region.bits for region in found]
            stretches = [
                Stretch(
                    region.interval.start,
                    region.interval.end,
                    np.nan if value is None else value,
                    f"GC {number(region.gc, 2)} %, GC skew {number(region.gc_skew, 3)}"
                    + ("" if region.bits is None else f", {region.bits:.3f} bits a base"),
                )
                for region, value in zip(found, values, strict=True)
            ]
            name = "GC of a region, %" if kind == "composition" else "bits a base of a region"
            low, high = shades[kind]
            panels.append(
                _strip(
                    f"{label}\nregions",
                    stretches,
                    name,
                    lambda some, name=name, low=low, high=high: Shade(
                        values=[part.value for part in some], label=name, low=low, high=high
                    ),
                )
            )
            if len(found) > REGIONS:
                notes.append(f"the longest {REGIONS} of {len(found):,} {label} regions")
    classes = row.findings.classes
    if classes is not None:
        stretches = [
            Stretch(
                part.start,
                part.end,
                labels[part.label],
                part.label + ("" if part.probability is None else f", {part.probability:.2f}"),
            )
            for part in classes.regions
        ]
        panels.append(
            _strip("class", stretches, "class", lambda some: [int(part.value) for part in some], _named(labels))
        )
    joined = -(-one.windows // max(len(bins.start) for bins in one.tracks.values())) if one.tracks else 1
    kept = "every window is here" if joined == 1 else f"the finest point is {joined} windows; windows.parquet has each"
    note = f"{one.windows:,} windows: {'; '.join([kept, *notes])}."
    axis = Axis(label="position, bp", low=row.start, high=row.start + row.length, places=True)
    return View(name=_name(one, samples), note=note, x=axis, panels=panels)


def _track(one: LongRecord, name: str) -> Panel:
    shown, bins = TRACKS[name], one.tracks[name]
    track = _bins(bins, shown)
    low, high = float(np.nanmin(bins.low)), float(np.nanmax(bins.high))
    marks: list[Mark] = [track]
    if name == "gc_skew":
        marks.append(Rule(at=0, label="", along="y"))
    surprising = one.summary.row.surprising
    if name == "bits" and surprising:
        marks.append(
            Points(
                name="most surprising windows",
                x=[(one_.start + one_.end) / 2 for one_ in surprising],
                y=[one_.bits for one_ in surprising],
                colour=4,
                size=8,
                labels=[
                    f"{one_.start + 1:,} to {one_.end:,}: {one_.bits:.3f} bits a base, z {number(one_.z, 1)}"
                    for one_ in surprising
                ],
            )
        )
        high = max(high, *(one_.bits for one_ in surprising))
    room = 0.08 * (high - low) or 0.5
    return Panel(y=Axis(label=shown.label, low=low - room, high=high + room), marks=marks, height=TRACK)


def _bins(bins: Bins, shown: Shown) -> Track:
    step = int(bins.end[0] - bins.start[0])
    peaks = bool(np.nanmax(bins.high - bins.low, initial=0.0) > 0)
    return Track(
        name=shown.name,
        start=int(bins.start[0]),
        step=step,
        stop=int(bins.end[-1]),
        mean=bins.mean,
        low=bins.low if peaks else None,
        high=bins.high if peaks else None,
        colour=shown.colour,
        unit=shown.unit,
    )


def _varies(bins: Bins, name: str) -> bool:
    """A soft mask that is nowhere is not worth a track."""
    return name != "softmask" or bool(np.nanmax(bins.high, initial=0.0) > 0)


def _walk(one: LongRecord) -> Panel:
    ends, sums = one.skew
    row = one.summary.row
    step = int(ends[0]) - row.start
    track = Track(
        name="cumulative G - C", start=row.start, step=step, stop=int(ends[-1]), mean=sums, colour=5, unit="bases"
    )
    marks: list[Mark] = [track]
    if row.skew is not None:
        marks += [Rule(at=row.skew.lowest, label="lowest"), Rule(at=row.skew.highest, label="highest")]
    return Panel(y=Axis(label="sum of G − C", low=None, high=None), marks=marks, height=TRACK)


def _strip(
    label: str,
    stretches: Sequence[Stretch],
    name: str,
    colour: Callable[[Sequence[Stretch]], Colour],
    names: dict[int, str] | None = None,
) -> Panel:
    longest = sorted(stretches, key=lambda part: (part.start - part.end, part.start))[:REGIONS]
    some = sorted(longest, key=lambda part: part.start)
    boxes = Boxes(
        name=name,
        x0=[part.start for part in some],
        x1=[part.end for part in some],
        y0=[0] * len(some),
        y1=[1] * len(some),
        colour=colour(some),
        labels=[f"{part.start + 1:,} to {part.end:,}: {part.words}" for part in some],
        names=names or {},
    )
    return Panel(y=Axis(label=label, low=0, high=1, ticks={-1: ""}), marks=[boxes], height=STRIP)


def _labels(records: Sequence[LongRecord]) -> dict[str, int]:
    """A colour for each class, the most common ones first."""
    bases: Counter[str] = Counter()
    for one in records:
        classes = one.summary.row.findings.classes
        for part in () if classes is None else classes.regions:
            bases[part.label] += part.end - part.start
    return {label: min(place, CLASSES) for place, (label, _) in enumerate(bases.most_common())}


def _named(labels: dict[str, int]) -> dict[int, str]:
    named: dict[int, str] = {}
    for label, colour in labels.items():
        named[colour] = label if colour < CLASSES else "other classes"
    return named


def _name(one: LongRecord, samples: Sequence[str]) -> str:
    row = one.summary.row
    part = f":{row.start + 1:,}-{row.start + row.length:,}" if row.start or "offset" in row.notes else ""
    sample = f" ({shortened(samples[one.summary.source], 24)})" if samples else ""
    return f"{shortened(row.id) or '(no id)'}{part}{sample}, {row.length:,} bp"


def _ends(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


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
        yield element("h3", "Cumulative GC skew")
        yield element(
            "p",
            "The running sum of G − C, its trend removed, against windows in shuffled order. In many bacteria it is "
            "lowest near the origin of replication and highest near the terminus.",
            class_="facts",
        )
        yield table(head, rows, "Cumulative GC skew of each record")
