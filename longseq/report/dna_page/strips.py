"""Strips below the tracks of a record: its regions of like composition, of like bits, and of one class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longseq.report.figures.marks import Axis, Boxes, Colour, Panel, Shade
from longseq.report.gathered.longest import LongRecord
from longseq.report.lines import number
from longseq.results.dna import Region

REGIONS = 400
"""Drawn of a record in one strip: the longest."""
OTHERS = 7
"""The colour of all classes but the most common ones."""
HEIGHT = 30
"""Pixels."""
KINDS = {"composition": ("GC", "GC of a region, %"), "bits": ("bits", "bits a base of a region")}


class Stretch(NamedTuple):
    """A part of a record in one colour."""

    start: int
    end: int
    value: float
    words: str


class Classes(NamedTuple):
    """Colours of classes, the same for every record."""

    colours: dict[str, int]
    names: dict[int, str]


def classes_of(records: Sequence[LongRecord]) -> Classes:
    """The classes with most bases have colours of their own."""
    bases: Counter[str] = Counter()
    for one in records:
        found = one.summary.row.findings.classes
        for part in () if found is None else found.regions:
            bases[part.label] += part.end - part.start
    colours = {label: min(place, OTHERS) for place, (label, _) in enumerate(bases.most_common())}
    names = {colour: label for label, colour in colours.items() if colour < OTHERS}
    return Classes(colours, names | ({OTHERS: "other classes"} if OTHERS in colours.values() else {}))


def strips(one: LongRecord, classes: Classes) -> tuple[list[Panel], list[str]]:
    """The strips of a record, and what is left out of them, in words."""
    panels, left = [], []
    for kind, (label, name) in KINDS.items():
        regions = [region for region in one.summary.regions if region.kind == kind]
        if regions:
            some = _longest([*_stretches(regions)])
            values = [part.value for part in some]
            low, high = _ends(values)
            panels.append(_strip(label, name, some, Shade(values=values, label=name, low=low, high=high), {}))
            left += [f"the longest {REGIONS} of {len(regions):,} {label} regions"] if len(regions) > REGIONS else []
    found = one.summary.row.findings.classes
    if found is not None:
        parts = [
            Stretch(
                part.start,
                part.end,
                classes.colours[part.label],
                part.label + ("" if part.probability is None else f", {part.probability:.2f}"),
            )
            for part in found.regions
        ]
        some = _longest(parts)
        panels.append(_strip("class", "class", some, [int(part.value) for part in some], classes.names))
        left += [f"the longest {REGIONS} of {len(parts):,} stretches of one class"] if len(parts) > REGIONS else []
    return panels, left


def _stretches(regions: Sequence[Region]) -> Iterator[Stretch]:
    for region in regions:
        bits = "" if region.bits is None else f", {region.bits:.3f} bits a base"
        words = f"GC {number(region.gc, 2)} %, GC skew {number(region.gc_skew, 3)}{bits}"
        value = region.gc if region.kind == "composition" else region.bits
        yield Stretch(region.interval.start, region.interval.end, np.nan if value is None else value, words)


def _longest(stretches: Sequence[Stretch]) -> list[Stretch]:
    """In order of place."""
    chosen = sorted(stretches, key=lambda part: (part.start - part.end, part.start))[:REGIONS]
    return sorted(chosen, key=lambda part: part.start)


def _strip(label: str, name: str, some: Sequence[Stretch], colour: Colour, names: dict[int, str]) -> Panel:
    boxes = Boxes(
        name=name,
        x0=[part.start for part in some],
        x1=[part.end for part in some],
        y0=[0] * len(some),
        y1=[1] * len(some),
        colour=colour,
        labels=[f"{part.start + 1:,} to {part.end:,}: {part.words}" for part in some],
        names=names,
    )
    return Panel(y=Axis(label="", low=0, high=1, ticks={0.5: label}), marks=[boxes], height=HEIGHT)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    known = [value for value in values if value == value] or [0.0]
    low, high = min(known), max(known)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
