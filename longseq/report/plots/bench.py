"""Pictures of a benchmark: speed and memory against length."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.report.bench_curves import BOUND, Curve, crossings, curves, rounded
from longseq.report.figures.marks import named
from longseq.report.plots.canvas import COLOURS, DASHES, DOUBLE, MARKS, SOFT, logarithmic, note, save, sheet
from longseq.results.bench import Bench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {False: "speed", True: "training_speed"}
"""Of the pictures: of inference, of training steps."""
TICKS = 7
"""Lengths that stand along the axis; of more, powers of ten."""


def save_bench(folder: Path, kinds: tuple[str, ...], found: Bench) -> None:
    """`speed`, and `training_speed` where training steps were timed; `png`, `svg` or both."""
    for train, name in NAMES.items():
        if shown := curves(found, train):
            save(folder, name, kinds, lambda shown=shown, train=train: speed_picture(shown, train))  # type: ignore[misc]


def speed_picture(shown: list[Curve], train: bool) -> Figure:
    """Tokens a second and memory against length, and where linear attention overtakes softmax."""
    drawn = sheet(DOUBLE, 2.7, layout="constrained")
    speed, peak = drawn.subplots(1, 2)
    lengths = [length for curve in shown for length in curve.lengths]
    for panel, which in ((speed, "speeds"), (peak, "peaks")):
        values = np.array([value for curve in shown for value in getattr(curve, which)])
        values = values[np.isfinite(values) & (values > 0)]
        for number, curve in enumerate(shown):
            panel.plot(curve.lengths, getattr(curve, which), label=_called(curve.mixer), **_look(number, curve.mixer))
        logarithmic(panel.xaxis, low=min(lengths) / 1.3, high=max(lengths) * 1.3)
        if len(ticks := named(sorted(set(lengths)))) <= TICKS:
            panel.set_xticks([*ticks], [*ticks.values()])
            panel.set_xticks([], minor=True)
        if len(values):
            logarithmic(panel.yaxis, low=values.min() / 1.5, high=values.max() * 1.5)
        panel.set_xlabel("tokens")
    speed.set_ylabel("tokens a second")
    peak.set_ylabel("memory beside the model (MiB)")
    note(speed, "a training step" if train else "inference, one record")
    note(peak, "the most that was held at once")
    _cross(speed, shown)
    drawn.legend(*speed.get_legend_handles_labels(), loc="outside lower center", ncols=min(len(shown), 6))
    return drawn


def _cross(panel: Axes, shown: list[Curve]) -> None:
    by_name = {curve.mixer: number for number, curve in enumerate(shown)}
    for number, one in enumerate(crossing for crossing in crossings(shown) if crossing.length is not None):
        assert one.length is not None
        panel.axvline(one.length, color=COLOURS[by_name[one.mixer] % len(COLOURS)], linewidth=0.7, linestyle=":")
        words = f"{one.mixer} ahead of {one.other}\nfrom {rounded(one.length):,}"
        at: dict[str, Any] = {
            "xycoords": ("data", "axes fraction"),
            "textcoords": "offset points",
            "fontsize": 6,
            "color": SOFT,
        }
        panel.annotate(words, (one.length, 0.03 + 0.13 * number), (3, 0), **at)


def _look(number: int, mixer: str) -> dict[str, Any]:
    if mixer == BOUND:
        return {"color": SOFT, "linestyle": "--", "linewidth": 0.8}
    place = number % len(COLOURS)
    return {"color": COLOURS[place], "linestyle": DASHES[place], "marker": MARKS[place]}


def _called(mixer: str) -> str:
    return "without attention" if mixer == BOUND else mixer
