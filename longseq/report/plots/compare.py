"""Pictures of a comparison: how models learned, how far back their gradients reach, what they cost against length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.report.compare import LEAST, TITLES
from longseq.report.plots.canvas import COLOURS, DASHES, DOUBLE, MARKS, SOFT, counting, logarithmic, note, save, sheet
from longseq.results.compare import ADDITION, Compare, CostRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 2.8
"""Inches."""
POWERS = range(-12, 2, 2)
"""Of ten, along the axis of gradients."""
MEASURES: tuple[tuple[str, str, Callable[[CostRow], float]], ...] = (
    ("state", "state (bytes)", lambda row: row.state_bytes),
    ("one more token", "time (ms)", lambda row: row.token_ms),
    ("a training step", "kept for the gradient (bytes)", lambda row: row.step_bytes),
)


def save_compare(folder: Path, kinds: Sequence[str], found: Compare) -> None:
    """`learning_TASK` and `gradients_TASK` of each task, and `costs`; `png`, `svg` or both."""
    for task in found.tasks:
        save(folder, f"learning_{task.name}", kinds, lambda task=task: learning(found, task.name))  # type: ignore[misc]
        save(folder, f"gradients_{task.name}", kinds, lambda task=task: gradients(found, task.name))  # type: ignore[misc]
    save(folder, "costs", kinds, lambda: costs(found))


def learning(found: Compare, name: str) -> Figure:
    """The share that is right, and bits, against steps, beside what is reached without a model."""
    drawn = sheet(DOUBLE, HEIGHT, layout="constrained")
    right, bits = drawn.subplots(1, 2)
    task = next(one for one in found.tasks if one.name == name)
    sums = name == ADDITION
    for model, one in found.of(name).items():
        steps = [point.step for point in one.curve]
        right.plot(steps, [100 * point.right for point in one.curve], label=model, **_look(found, model))
        bits.plot(steps, [point.bits for point in one.curve], label=model, **_look(found, model))
    right.axhline(100 * task.frequency_right, color=SOFT, linestyle=":", linewidth=0.8)
    bits.axhline(task.frequency_bits, color=SOFT, linestyle=":", linewidth=0.8)
    if task.counted_bits is not None:
        bits.axhline(task.counted_bits, color=SOFT, linestyle="--", linewidth=0.8)
    right.set(xlabel="steps", ylabel=f"{'sums' if sums else 'bases'} right (%)")
    bits.set(xlabel="steps", ylabel=f"bits a {'digit' if sums else 'base'}")
    for panel in (right, bits):
        counting(panel.xaxis)
    note(right, f"{TITLES[name]}, held out; dotted: the most frequent answer")
    counted = "" if task.counted_order is None else f"; dashed: by counts, order {task.counted_order}"
    note(bits, f"dotted: by frequencies{counted}")
    return _named(drawn, right)


def gradients(found: Compare, name: str) -> Figure:
    """Norms against the distance, before and after training."""
    drawn = sheet(DOUBLE, HEIGHT, layout="constrained")
    panels = drawn.subplots(1, 2, sharey=True)
    for panel, which, words in zip(panels, ("initial", "trained"), ("before", "after"), strict=True):
        for model, one in found.of(name).items():
            norm = np.array(getattr(one.reach, which))
            shown = np.where(norm > 0, norm, np.nan)
            panel.plot(one.reach.distances, shown, label=model, **_look(found, model))
            logarithmic(panel.xaxis, low=0.9, high=1.1 * one.reach.distances[-1])
        panel.set_yscale("log")
        panel.set_yticks([10.0**n for n in POWERS], [f"1e{n}" if n else "1" for n in POWERS])
        panel.minorticks_off()
        panel.set_xlabel("tokens back")
        note(panel, f"{TITLES[name]}, {words} training")
    top = max(max(*one.reach.initial, *one.reach.trained) for one in found.of(name).values())
    panels[0].set(ylabel="gradient norm", ylim=(LEAST, max(2 * top, 1.0)))
    return _named(drawn, panels[0])


def costs(found: Compare) -> Figure:
    """State, time of one more token, and what a training step keeps, against length."""
    drawn = sheet(DOUBLE, HEIGHT, layout="constrained")
    panels = drawn.subplots(1, len(MEASURES))
    for panel, (words, label, value) in zip(panels, MEASURES, strict=True):
        for cost in found.costs:
            lengths = [row.length for row in cost.rows]
            panel.plot(lengths, [value(row) for row in cost.rows], label=cost.model, **_look(found, cost.model))
            logarithmic(panel.xaxis, low=min(lengths) / 1.3, high=max(lengths) * 1.3)
        every = [value(row) for cost in found.costs for row in cost.rows]
        logarithmic(panel.yaxis, low=min(every) / 1.5, high=max(every) * 1.5)
        panel.set(xlabel="tokens", ylabel=label)
        note(panel, words)
    return _named(drawn, panels[0])


def _named(drawn: Figure, panel: Axes) -> Figure:
    handles, names = panel.get_legend_handles_labels()
    drawn.legend(handles, names, loc="outside lower center", ncols=min(len(names), 6))
    return drawn


def _look(found: Compare, model: str) -> dict[str, Any]:
    place = found.models.index(model) % len(COLOURS)
    return {"color": COLOURS[place], "linestyle": DASHES[place], "marker": MARKS[place]}
