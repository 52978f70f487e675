"""Pictures of records of DNA: their lengths, their GC, figures along one of them, and a map of their windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.log import count
from longseq.report.gathered.bins import Bins, histogram, nx
from longseq.report.gathered.lengths import Lengths
from longseq.report.gathered.longest import LongRecord
from longseq.report.gathered.vector_map import MapPoints
from longseq.report.plots.canvas import (
    COLOURS,
    DASHES,
    DOUBLE,
    INK,
    MARKS,
    SINGLE,
    SOFT,
    counting,
    engineering,
    logarithmic,
    note,
    sheet,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRACKS = {
    "gc": "GC (%)",
    "gc_skew": "GC skew",
    "entropy": "entropy\n(bits)",
    "bits": "model\n(bits/base)",
}
"""Columns of windows that are drawn along a record, from top to bottom, and what they are called."""
TOLD_APART = len(COLOURS)
"""Inputs that have a colour each; of more, all are drawn as one."""
DOTS = 3000
"""Records with a dot each; of more, their number is a shade."""
REGIONS = 400
"""Regions whose mean is drawn over the windows; of more it would cover them."""
RARE = 0.05
"""Probability of a skew by chance below which its turning points are marked."""


def lengths_picture(found: Lengths, samples: Sequence[str]) -> Figure:
    """Bars of the lengths of all records, and the Nx curve of each input."""
    drawn = sheet(DOUBLE, 2.4, layout="constrained")
    bars, curves = drawn.subplots(1, 2)
    lengths = found.lengths
    made = histogram(lengths)
    bars.bar(made.edges[:-1], made.counts, np.diff(made.edges), align="edge", color=COLOURS[0], linewidth=0)
    if made.logarithmic:
        logarithmic(bars.xaxis, "b", low=made.edges[0], high=made.edges[-1])
    else:
        engineering(bars.xaxis, "b")
    counting(bars.yaxis)
    bars.set(xlabel="length", ylabel="records")
    bars.grid(axis="x", visible=False)
    empty = int(np.count_nonzero(lengths == 0))
    note(bars, count(len(lengths), "record") + (f", {empty:,} of them empty" if empty else ""))
    lowest, highest = np.inf, 0.0
    for number, (name, chosen) in enumerate(_inputs(found.sources, samples)):
        x, y = nx(lengths[chosen])
        if len(x):
            x, y = np.append(0, x), np.append(y[0], y)
            curves.plot(x, y, color=COLOURS[number], linestyle=DASHES[number], label=name, drawstyle="steps-pre")
            lowest, highest = min(lowest, float(y[-1])), max(highest, float(y[0]))
    curves.axvline(50, color=SOFT, linewidth=0.6, linestyle=":")
    if highest / lowest >= 20:
        logarithmic(curves.yaxis, "b", low=lowest / 1.2, high=highest * 1.2)
    else:
        engineering(curves.yaxis, "b")
        curves.set_ylim(0, 1.08 * highest)
    curves.set(xlabel="x (% of all bases)", ylabel="Nx", xlim=(0, 100))
    note(curves, "records of at least Nx hold x % of the bases")
    if len(samples) > 1:
        curves.legend(loc="best")
    return drawn


def gc_picture(found: Lengths, samples: Sequence[str]) -> Figure:
    """GC against length: a dot a record, or shades where there are too many."""
    drawn = sheet(SINGLE, 2.6, layout="constrained")
    panel = drawn.subplots()
    known = np.isfinite(found.gc)
    lengths, gc, sources = found.lengths[known], found.gc[known], found.sources[known]
    if lengths.max() / lengths.min() >= 20:
        logarithmic(panel.xaxis, "b", low=lengths.min() / 1.3, high=lengths.max() * 1.3)
    else:
        engineering(panel.xaxis, "b")
    if len(lengths) <= DOTS:
        for number, (name, chosen) in enumerate(_inputs(sources, samples)):
            marks: dict[str, Any] = {"s": 9, "marker": MARKS[number], "linewidths": 0, "alpha": 0.7}
            panel.scatter(lengths[chosen], gc[chosen], color=COLOURS[number], label=name, **marks)
        _legend(drawn, panel, samples)
    else:
        spread = np.unique(np.geomspace(lengths.min(), lengths.max() + 1, 50))
        table, across, up = np.histogram2d(lengths, gc, [spread, np.linspace(gc.min(), gc.max() + 1e-9, 51)])
        shades = panel.pcolormesh(across, up, np.where(table, table, np.nan).T, norm="log", rasterized=True)
        bar = drawn.colorbar(shades, ax=panel, label="records", shrink=0.8)
        engineering(bar.ax.yaxis)
    panel.set(xlabel="length", ylabel="GC (% of A, C, G, T)")
    note(panel, count(len(lengths), "record"))
    return drawn


def record_picture(record: LongRecord, name: str, place: str, window: int) -> Figure:
    """Figures of windows along one record, one below the other: means of bins, and the span between the least and the
    greatest window of each; regions of one composition over the GC, and the running sum of the skew where it has one.

    Args:
        name: Of the record, with its input where there are several.
        place: Which of how many it is.
        window: Bases a window.
    """
    row = record.summary.row
    regions = [one for one in record.summary.regions if one.kind == "composition" and one.gc is not None]
    panels = [*record.tracks, *(["walk"] if row.skew is not None else [])]
    panels.sort(key=[*TRACKS, "walk"].index)
    if "walk" in panels:  # below the skew that it adds up
        panels.remove("walk")
        panels.insert(panels.index("gc_skew") + 1 if "gc_skew" in panels else 0, "walk")
    drawn = sheet(DOUBLE, 0.75 + 0.75 * len(panels), layout="constrained")
    axes: list[Axes] = list(drawn.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0])
    for panel, what in zip(axes, panels, strict=True):
        if what == "walk":
            _walk(panel, record)
        else:
            _track(panel, record.tracks[what], TRACKS[what])
        if what == "gc" and 1 < len(regions) <= REGIONS:
            for region in regions:
                panel.hlines(region.gc or 0.0, region.interval.start, region.interval.end, color=INK, linewidth=1.4)
            place = f"black: regions of one composition;  {place}".rstrip("; ")
        if what == "gc_skew":
            panel.axhline(0, color=SOFT, linewidth=0.6)
    joined = -(-record.windows // len(next(iter(record.tracks.values())).start))
    line = f"windows of {window:,} bases"
    line += f", {joined:,} a step: mean, and least to greatest" if joined > 1 else ""
    axes[0].set_title(shortened(name, 60), loc="left")
    axes[0].set_title(place, loc="right", color=SOFT, fontsize=6.5)
    axes[-1].set_xlabel(f"place in the record ({line})")
    axes[-1].set_xlim(row.start, row.start + row.length)
    engineering(axes[-1].xaxis, "b")
    drawn.align_ylabels(axes)
    return drawn


def map_picture(points: MapPoints, samples: Sequence[str]) -> Figure:
    """Windows by the first two principal components of their vectors, coloured by input, or of one input by GC."""
    drawn = sheet(SINGLE, 2.9, layout="constrained")
    panel = drawn.subplots()
    x, y = points.places.T
    if len(samples) == 1 or len(samples) > TOLD_APART:
        dots = panel.scatter(x, y, c=points.gc, s=5, linewidths=0)
        drawn.colorbar(dots, ax=panel, label="GC of the window (%)", shrink=0.8)
    else:
        for number, (name, chosen) in enumerate(_inputs(points.sources, samples)):
            marks: dict[str, Any] = {"s": 5, "marker": MARKS[number], "linewidths": 0, "alpha": 0.7}
            panel.scatter(x[chosen], y[chosen], color=COLOURS[number], label=name, **marks)
        _legend(drawn, panel, samples)
    first, second = points.shares
    panel.set(xlabel=f"component 1 ({first:.0f} % of the variance)", ylabel=f"component 2 ({second:.0f} %)")
    shown = f"{len(x):,} of {points.all:,} windows" if len(x) < points.all else f"{points.all:,} windows"
    note(panel, f"vectors of {shown}")
    return drawn


def _inputs(sources: np.ndarray, samples: Sequence[str]) -> list[tuple[str, np.ndarray]]:
    """Name, and which of the entries are of it, of each input; one for all where they cannot be told apart."""
    if len(samples) > TOLD_APART:
        return [(f"{len(samples):,} inputs together", np.ones(len(sources), bool))]
    return [(shortened(name, 28), sources == number) for number, name in enumerate(samples)]


def _legend(drawn: Figure, panel: Axes, samples: Sequence[str]) -> None:
    """Below the dots, not over some of them."""
    if len(samples) > 1:
        drawn.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=2, markerscale=1.6)


def _track(panel: Axes, bins: Bins, label: str) -> None:
    middle = (bins.start + bins.end) / 2
    panel.fill_between(middle, bins.low, bins.high, color=COLOURS[5], alpha=0.45, linewidth=0)
    panel.plot(middle, bins.mean, color=COLOURS[0], linewidth=0.8)
    panel.set_ylabel(label)


def _walk(panel: Axes, record: LongRecord) -> None:
    row = record.summary.row
    assert row.skew is not None
    ends, sums = record.skew
    panel.plot(np.append(row.start, ends), np.append(0, sums), color=COLOURS[1], linewidth=1)
    panel.set_ylabel("sum of\nG − C")
    engineering(panel.yaxis, "b")
    if row.skew.p >= RARE:
        return
    for place, what in ((row.skew.lowest, "lowest"), (row.skew.highest, "highest")):
        panel.axvline(place, color=SOFT, linewidth=0.6, linestyle="--")
        left = place > row.start + row.length / 2
        label = f"{what}: {place / 1000:,.0f} kb"
        up = 0.82 if what == "lowest" else 0.06  # where the sum is not
        panel.annotate(
            label,
            (place, up),
            (-3 if left else 3, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right" if left else "left",
            fontsize=6.5,
            color=SOFT,
        )
