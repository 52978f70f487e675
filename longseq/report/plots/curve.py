"""The learning curve of a run as a picture: what was learned and what was held out, above the learning rate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.log import count
from longseq.report.plots.canvas import COLOURS, SOFT, engineering, rendered, sheet, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0
"""Inches."""
SCREEN = {"savefig.dpi": 100, "font.size": 9, "axes.labelsize": 9, "axes.titlesize": 10, "legend.fontsize": 8}
SCREEN |= {"xtick.labelsize": 8, "ytick.labelsize": 8}
"""It is looked at on a screen while a run is on, not printed in a column."""
SMOOTHED = 100
"""The memory of the smoothed loss is the number of steps over this, two at least."""
FEW = 30
"""Steps below which each has a dot."""
EARLY = 20
"""The first steps, the number of all over this, may leave the picture: the fall at the start would flatten the rest."""
UPPER = ("f1", "mcc", "r2", "auroc", "auprc")
"""Words that are initials."""
LEARNED, HELD_OUT, RATE = COLOURS[0], COLOURS[1:3], SOFT

Line = Mapping[str, Any]


def curve(lines: Iterable[Line], *, title: str, learned: str, held_out: Sequence[str], unit: str = "") -> bytes:
    """A PNG of a journal, the same bytes for the same lines and the same version of matplotlib.

    Args:
        lines: `{"step", "tokens", LEARNED, "learning_rate"}` of steps and `{"step", "held_out_NAME", …}` of
            evaluations, in order; None is a value that was no number.
        title: What was learned, from what.
        learned: The figure of a step.
        held_out: Figures of an evaluation, two at most. One that is `learned` stands beside it, the others in a panel
            of their own. What is reached without a model, `held_out_null_NAME`, is a dashed line.
        unit: That of `learned`, where its name does not say it.
    """
    with styled(**SCREEN):
        return rendered(figure(lines, title=title, learned=learned, held_out=held_out, unit=unit), "png")


def figure(lines: Iterable[Line], *, title: str, learned: str, held_out: Sequence[str], unit: str = "") -> Figure:
    """The picture of `curve`, before it is written."""
    steps, scored = _parted(lines, learned)
    names = [name for name in held_out if any(f"held_out_{name}" in line for line in scored)]
    apart = [name for name in names if name != learned]
    heights = [3.0, 2.0, 1.0] if apart else [3.0, 1.0]
    drawn = sheet(WIDTH, 1.2 + sum(heights))
    panels: list[Axes] = list(drawn.subplots(len(heights), 1, sharex=True, height_ratios=heights))
    tokens, values = _column(steps, "tokens"), _column(steps, learned)
    dots = "." if len(values) < FEW else ""
    panels[0].plot(tokens, values, color=LEARNED, alpha=0.3, linewidth=0.8, marker=dots, label="each step")
    mean = smoothed(values, max(len(values) / SMOOTHED, 2.0))
    panels[0].plot(tokens, mean, color=LEARNED, linewidth=1.6, label="smoothed")
    panels[0].set_ylabel(_words(learned) + (f" ({unit})" if unit else ""))
    for name, colour in zip(names, HELD_OUT, strict=False):
        here = name == learned
        _held_out(panels[0 if here else 1], scored, name, "held out" if here else _words(name), colour)
    if len(values) >= FEW:
        _close_up(panels[0], len(values) // EARLY)
    if apart:
        panels[1].set_ylabel("held out")
    panels[-1].plot(tokens, _column(steps, "learning_rate"), color=RATE, linewidth=1.2, marker=dots)
    panels[-1].set_ylabel("learning rate")
    panels[-1].set_ylim(bottom=0)
    panels[-1].set_xlabel(f"tokens learned from, in {count(steps[-1]['step'] if steps else 0, 'step')}")
    panels[-1].set_xlim(left=0)
    engineering(panels[-1].xaxis)
    panels[0].set_title(title)
    for panel in panels:
        if panel is not panels[-1]:
            panel.legend()
    drawn.align_ylabels(panels)
    high = drawn.get_figheight()
    drawn.subplots_adjust(left=0.12, right=0.97, top=1 - 0.55 / high, bottom=0.55 / high, hspace=0.15)
    return drawn


def smoothed(values: np.ndarray, memory: float) -> np.ndarray:
    """(N,) the mean of the values on both sides, weighted by exp(-distance / memory); what is no number has no
    weight."""
    known = np.isfinite(values)
    total = _around(np.where(known, values, 0.0), memory)
    weight = _around(known.astype(float), memory)
    return np.divide(total, weight, out=np.full(len(values), np.nan), where=weight > 0)


def _around(values: np.ndarray, memory: float) -> np.ndarray:
    """(N,) the sum over both sides, each value times exp(-distance / memory): a pass from each end."""
    keep, before, after = math.exp(-1 / memory), np.zeros(len(values)), np.zeros(len(values))
    for i in range(1, len(values)):
        before[i] = keep * (before[i - 1] + values[i - 1])
        after[-i - 1] = keep * (after[-i] + values[-i])
    return before + values + after


def _parted(lines: Iterable[Line], learned: str) -> tuple[list[Line], list[Line]]:
    """Lines of steps, and of evaluations with the `tokens` that were learned from by then."""
    steps: list[Line] = []
    scored: list[Line] = []
    for line in lines:
        if learned in line:
            steps.append(line)
        else:
            scored.append({**line, "tokens": steps[-1]["tokens"] if steps else 0})
    return steps, scored


def _column(lines: Sequence[Line], name: str) -> np.ndarray:
    """(N,) NaN where there is no number."""
    values = [line.get(name) for line in lines]
    return np.array([math.nan if value is None else value for value in values], float)


def _held_out(panel: Axes, scored: Sequence[Line], name: str, label: str, colour: str) -> None:
    tokens, values = _column(scored, "tokens"), _column(scored, f"held_out_{name}")
    panel.plot(tokens, values, color=colour, linewidth=1.2, marker="o", markersize=3, label=label)
    null = _column(scored, f"held_out_null_{name}")
    null = null[np.isfinite(null)]
    if len(null):
        panel.axhline(null[-1], color=colour, linestyle="--", linewidth=1, label=f"{label}, without a model")


def _close_up(panel: Axes, early: int) -> None:
    """Heights that all lines need from the step after the first `early` ones on; marks of evaluations all count."""
    first, second, *others = (np.asarray(line.get_ydata(), float) for line in panel.get_lines())
    shown = np.concatenate([first[early:], second[early:], *others])
    shown = shown[np.isfinite(shown)]
    if len(shown) and np.ptp(shown):
        margin = 0.05 * np.ptp(shown)
        panel.set_ylim(shown.min() - margin, shown.max() + margin)


def _words(name: str) -> str:
    return " ".join(word.upper() if word in UPPER else word for word in name.split("_"))
