"""Pictures of attention: weights of heads beside softmax, how far both agree, and how long heads remember."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.report.plots.canvas import (
    COLOURS,
    DOUBLE,
    SINGLE,
    SOFT,
    drawable,
    logarithmic,
    note,
    save,
    sheet,
    weighing,
)
from longseq.results.attention import AttentionLook, HeadLook

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = 24
"""Tokens up to which each is written beside its row and column."""
ACROSS = 3
"""Heads beside one another."""


def save_attention(folder: Path, kinds: Sequence[str], look: AttentionLook, heads: Sequence[HeadLook]) -> None:
    """`attention` of `heads`, `overlap` of all where there is a softmax beside them, `memory` of those that forget."""
    save(folder, "attention", kinds, partial(weights_picture, look, heads))
    if any(head.overlap is not None for head in look.heads):
        save(folder, "overlap", kinds, partial(overlap_picture, look))
    if any(math.isfinite(tokens) for head in look.heads for tokens in head.half_life):
        save(folder, "memory", kinds, partial(memory_picture, look))


def weights_picture(look: AttentionLook, heads: Sequence[HeadLook]) -> Figure:
    """For each head its table, and below it that of the softmax, where there is one, on the same scale."""
    across = min(len(heads), ACROSS)
    deep = -(-len(heads) // across)
    both = 2 if look.softmax else 1
    side = DOUBLE / ACROSS
    tall = 0.3 + (0.86 * side + 0.12) * deep * both
    drawn = sheet(side * across if across > 1 else SINGLE, tall * (1 if across > 1 else 1.3), layout="constrained")
    panels = drawn.subplots(deep * both, across, squeeze=False)
    for panel in panels.flat:
        panel.set_visible(False)
    for number, head in enumerate(heads):
        row, column = divmod(number, across)
        tables = [look.weights[head.name], *([look.softmax[head.name]] if head.name in look.softmax else [])]
        scale = max(float(np.abs(table).max()) for table in tables)
        signed = any((table < 0).any() for table in tables)
        for part, table in enumerate(tables):
            panel = panels[row * both + part, column]
            panel.set_visible(True)
            shades = panel.imshow(table, interpolation="nearest", **weighing(scale, signed))
            _places(panel, look.tokens)
            like = "" if head.overlap is None or part else f", {head.overlap:.0%} alike"
            note(panel, "softmax" if part else f"head {head.name}, {head.mixer}{like}")
            if column == 0:
                panel.set_ylabel("token that reads")
            if part + 1 == len(tables):
                panel.set_xlabel("token that is read")
        pair = [panels[row * both + part, column] for part in range(len(tables))]
        drawn.colorbar(shades, ax=pair, shrink=0.4, aspect=16, pad=0.02)
    return drawn


def overlap_picture(look: AttentionLook) -> Figure:
    """How much of its weight each head puts where the softmax does."""
    layers, heads = max(head.layer for head in look.heads), max(head.head for head in look.heads)
    table = np.full((layers, heads), np.nan)
    for head in look.heads:
        if head.overlap is not None:
            table[head.layer - 1, head.head - 1] = head.overlap
    drawn = sheet(SINGLE, 0.8 + 0.24 * layers, layout="constrained")
    panel = drawn.subplots()
    shades = panel.imshow(table, vmin=0, vmax=1, aspect="auto", cmap="cividis")
    for (row, column), value in np.ndenumerate(table):
        if np.isfinite(value):
            colour = "white" if value < 0.5 else "black"
            panel.text(column, row, f"{100 * value:.0f}", ha="center", va="center", color=colour, fontsize=6)
    panel.set_xticks(range(heads), [str(head + 1) for head in range(heads)])
    panel.set_yticks(range(layers), [str(layer + 1) for layer in range(layers)])
    panel.set(xlabel="attention head", ylabel="layer")
    panel.grid(visible=False)
    panel.tick_params(length=0)
    note(panel, "% of weight as the softmax has it")
    drawn.colorbar(shades, ax=panel, shrink=0.8).ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    return drawn


def memory_picture(look: AttentionLook) -> Figure:
    """Half-lives of memories: a mark for each channel, or each head, by layer."""
    drawn = sheet(SINGLE, 2.6, layout="constrained")
    panel = drawn.subplots()
    lives = [(head, tokens) for head in look.heads for tokens in head.half_life]
    known = [tokens for _, tokens in lives if math.isfinite(tokens)]
    top = 3 * max(known)
    layers = sorted({head.layer for head, _ in lives})
    most = max(head.head for head, _ in lives)
    for head in look.heads:
        colour = COLOURS[(head.head - 1) % len(COLOURS)]
        spread = np.linspace(-0.3, 0.3, most)[head.head - 1] if most > 1 else 0.0
        for tokens in head.half_life:
            finite = math.isfinite(tokens)
            mark: dict[str, Any] = {"marker": "o" if finite else "^", "color": colour, "linestyle": "none"}
            panel.plot([head.layer + spread], [tokens if finite else top], alpha=0.75, **mark)
    logarithmic(panel.yaxis, low=min(known) / 2, high=2 * top)
    panel.set_xticks(layers, [str(layer) for layer in layers])
    panel.grid(axis="x", visible=False)
    panel.set(xlabel=f"layer (heads 1 to {most}, from left to right)", ylabel="half-life of the memory (tokens)")
    for_ever = ", triangles: for ever" if len(known) < len(lives) else ""
    note(panel, f"mean decay over {look.read:,} tokens{for_ever}")
    return drawn


def _places(panel: Axes, tokens: Sequence[str]) -> None:
    panel.grid(visible=False)
    panel.spines[["left", "bottom"]].set_visible(False)
    panel.tick_params(length=0, labelcolor=SOFT)
    if len(tokens) <= NAMED:
        names = [drawable(token.strip()) or "·" for token in tokens]
        letters = max(map(len, names)) == 1
        small = 5 if len(tokens) > 16 else 6
        panel.set_xticks(range(len(tokens)), names, fontsize=small, rotation=0 if letters else 90)
        panel.set_yticks(range(len(tokens)), names, fontsize=small)
