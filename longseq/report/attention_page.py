"""`attention.html`: what attention heads do, as a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from longseq.report.attention import HEAD, cells, meanings, short, title
from longseq.report.figures.figure import figure
from longseq.report.figures.library import STYLE, scripts
from longseq.report.figures.marks import Axis, Grid, Panel, Points, View
from longseq.report.page import Markup, element, page, table
from longseq.results.attention import AttentionLook, HeadLook
from longseq.results.run import Run

ALL = 1 << 18
"""Weights up to which the tables of all heads are on the page; of more, those of the heads asked for."""
LEAST = -3.0
"""Power of ten of the least weight that is told from 0."""
NAMED = 48
"""Tokens up to which each stands along the axes."""


def attention_page(look: AttentionLook, heads: Sequence[HeadLook], run: Run) -> Iterable[str]:
    """The page in pieces; `heads` are shown first."""
    facts = [
        title(look),
        f"longseq {run.version}, {run.device}: {run.command}",
    ]
    return page(f"Attention of {look.model}", _body(look, heads), STYLE, facts=facts, scripts=scripts())


def _body(look: AttentionLook, heads: Sequence[HeadLook]) -> Iterator[str]:
    yield element("section", element("h2", "Weights"), _weights(look, heads)) + "\n"
    if (drawn := _memory(look)) is not None:
        yield element("section", element("h2", "Memory"), drawn) + "\n"
    terms = [item for name, words in meanings(look) for item in (element("dt", name), element("dd", words))]
    rows = table(HEAD, [cells(head) for head in look.heads], "All attention heads")
    without = [element("p", f"{where}: no table of weights") for where in look.without]
    yield element("section", element("h2", "All heads"), rows, element("dl", *terms), *without) + "\n"


def _weights(look: AttentionLook, heads: Sequence[HeadLook]) -> Markup:
    first = {head.name for head in heads}
    room = len(look.tokens) ** 2 * len(look.heads) <= ALL
    chosen = [*heads, *(head for head in look.heads if room and head.name not in first)]
    caption = (
        "How token after token (rows, from the top) weighs the values of all others (columns). Below it, on the same "
        f"scale, the {look.beside}. Choose a head above the picture."
        if look.softmax
        else "How token after token (rows, from the top) weighs the values of all others (columns). Weights may be "
        "negative: softmax knows no such ones, and none stands beside."
    )
    rows = table(HEAD, [cells(head) for head in chosen], "The heads of the picture")
    return figure("weights", [_view(look, head) for head in chosen], caption, rows, choose="Head")


def _view(look: AttentionLook, head: HeadLook) -> View:
    size = len(look.tokens)
    tables = [(f"head {head.name}, {head.mixer}", look.weights[head.name])]
    if head.name in look.softmax:
        tables.append(("softmax", look.softmax[head.name]))
    own = [weights for _, weights in tables]
    low, high, scale = LEAST, 0.0, "log10 of the weight"
    if any((weights < 0).any() for _, weights in tables):
        high = float(f"{1.05 * max(float(np.abs(weights).max()) for _, weights in tables):.2g}")
        low, scale = -high, "weight"
    else:
        tables = [(name, np.log10(np.maximum(weights, 10**LEAST))) for name, weights in tables]
    if not any(np.triu(weights, 1).any() for weights in own):  # what comes later is not seen at all
        tables = [(name, np.where(np.tri(size, dtype=bool), weights, np.nan)) for name, weights in tables]
    few = size <= NAMED
    names = [token.strip() or "·" for token in look.tokens] if few else []
    across = {place + 0.5: name for place, name in enumerate(names)}
    down = {size - place - 0.5: name for place, name in enumerate(names)}
    if not few:
        down = {float(size - place): f"{place:,}" for place in range(0, size, max(1, size // 4))}
    panels = [
        Panel(
            y=Axis(label=f"{name}: token that reads", low=0, high=size, ticks=down),
            marks=[Grid(name=f"{name}: {scale}", x=(0, size), y=(0, size), values=weights[::-1], low=low, high=high)],
            height=360,
        )
        for name, weights in tables
    ]
    shared = "" if head.overlap is None else f"{head.overlap:.0%} of the weight is where the softmax has it. "
    note = f"{shared}Values are read from {head.reach:.1f} tokens away in the mean."
    return View(
        x=Axis(label="token that is read", low=0, high=size, ticks=across), panels=panels, name=head.name, note=note
    )


def _memory(look: AttentionLook) -> Markup | None:
    lives = [(head, tokens) for head in look.heads for tokens in head.half_life if math.isfinite(tokens)]
    if not lives:
        return None
    most = max(head.head for head, _ in lives)
    x = [head.layer + (0.6 * (head.head - 1) / (most - 1) - 0.3 if most > 1 else 0.0) for head, _ in lives]
    y = [tokens for _, tokens in lives]
    marks = Points(
        name="half-life",
        x=x,
        y=y,
        colour=[(head.head - 1) % 8 for head, _ in lives],
        labels=[f"head {head.name}: {short(tokens)} tokens" for head, tokens in lives],
    )
    layers = sorted({head.layer for head, _ in lives})
    across = Axis(label="layer, its heads from left to right", ticks={float(layer): str(layer) for layer in layers})
    up = Axis(label="half-life (tokens)", logarithmic=True)
    for_ever = sum(math.isinf(tokens) for head in look.heads for tokens in head.half_life)
    caption = (
        f"Tokens after which half of a memory is left, by its mean decay over {look.read:,} tokens: a mark for each "
        "attention head, or each channel of its keys."
    )
    caption += f" {for_ever:,} more forget nothing." if for_ever else ""
    rows = table(("head", "half-life"), [(head.name, short(tokens)) for head, tokens in lives], "Half-lives")
    return figure("memory", [View(x=across, panels=[Panel(y=up, marks=[marks])])], caption, rows)
