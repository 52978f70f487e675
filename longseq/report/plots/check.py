"""Pictures of a check: how near each law came to its limit, and how far readings drift as a record grows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from longseq.report.plots.canvas import COLOURS, DASHES, DOUBLE, MARKS, SINGLE, SOFT, logarithmic, note, save, sheet
from longseq.results.check import CheckOutcome, DriftPoint, LawResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXACT = 1e-9
"""Share of its limit at which a figure is drawn that is 0 or smaller than this."""
BEYOND = 1e3
"""The same of what is larger, or not finite."""


def save_check(folder: Path, kinds: tuple[str, ...], outcome: CheckOutcome) -> None:
    """`laws`, of each model where there are several, and `drift` where it was measured; `png`, `svg` or both."""
    models = list(dict.fromkeys(law.model for law in outcome.laws))
    for number, model in enumerate(models, 1):
        laws = [law for law in outcome.laws if law.model == model]
        save(folder, f"laws_{number:02}" if len(models) > 1 else "laws", kinds, partial(laws_picture, model, laws))
    if outcome.drift:
        save(folder, "drift", kinds, partial(drift_picture, outcome.drift))


def laws_picture(model: str, laws: Sequence[LawResult]) -> Figure:
    """The worst figure of each law by its limit."""
    drawn = sheet(DOUBLE, 0.8 + 0.17 * len(laws), layout="constrained")
    panel = drawn.subplots()
    shares = [min(max(law.share, EXACT), BEYOND) for law in laws]
    for place, (law, share) in enumerate(zip(laws, shares, strict=True)):
        colour = COLOURS[0] if law.ok else COLOURS[1]
        face = "white" if law.worst == 0 else colour
        panel.plot([EXACT, share], [place, place], color=colour, linewidth=0.8)
        panel.plot(
            [share], [place], marker="o" if law.ok else "X", color=colour, markerfacecolor=face, linestyle="none"
        )
    logarithmic(panel.xaxis, low=EXACT / 2, high=max(10.0, 2 * max(shares)))
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.axvline(1, color=SOFT, linewidth=0.9, linestyle="--")
    panel.set_yticks(range(len(laws)), [_called(law) for law in laws])
    panel.set_ylim(len(laws) - 0.4, -0.6)
    panel.grid(axis="y", visible=False)
    panel.set_xlabel("worst figure by its limit (hollow: no difference at all)")
    held = sum(law.ok for law in laws)
    note(panel, f"{model}: {held} of {len(laws)} hold; dashed: the limit")
    return drawn


def drift_picture(points: Sequence[DriftPoint]) -> Figure:
    """Difference of float32 from float64 against length, of outputs and of memories."""
    drawn = sheet(SINGLE, 2.7, layout="constrained")
    panel = drawn.subplots()
    kinds = list(dict.fromkeys((point.model, point.what) for point in points))
    models = {model for model, _ in kinds}
    values = [point.error for point in points if point.error > 0] or [1e-7]
    for number, (model, what) in enumerate(kinds):
        some = [point for point in points if (point.model, point.what) == (model, what)]
        place = number % len(COLOURS)
        panel.plot(
            [point.tokens for point in some],
            [point.error or float("nan") for point in some],
            color=COLOURS[place],
            linestyle=DASHES[place],
            marker=MARKS[place],
            label=f"{model}, {what}" if len(models) > 1 else what,
        )
    limit = points[0].limit
    panel.axhline(limit, color=SOFT, linewidth=0.9, linestyle="--", label="limit")
    tokens = [point.tokens for point in points]
    logarithmic(panel.xaxis, low=min(tokens) / 1.3, high=max(tokens) * 1.3)
    logarithmic(panel.yaxis, low=min(values) / 2, high=max(limit, *values) * 2)
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:.0e}")
    panel.set(xlabel="tokens read", ylabel="difference of float32 from float64")
    note(panel, "root of the mean square, by that of the exact values")
    drawn.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=min(len(kinds) + 1, 3))
    return drawn


def _called(law: LawResult) -> str:
    return f"{law.law}, {law.precision} " + (f"≤ {law.limit:.3g}" if law.limit else "equal")
