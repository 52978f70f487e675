"""What remembering costs: the sections on softmax attention and on linear attention."""

from __future__ import annotations

import math
from collections.abc import Callable

from longseq.report.compare import gradient, size
from longseq.report.compare_page import models
from longseq.report.compare_page.looking_back import far, task
from longseq.report.compare_page.words import colour, listed, paragraph, section, times
from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Line, Panel, View, named
from longseq.report.page import Markup, table
from longseq.results.compare import Compare, Cost, CostRow

GROWS = 1.05
"""A state that grows by less over all lengths is said to stay as it is."""
AHEAD = 1.1
"""A time is said to be shorter where the other is longer by this."""

MEASURES: tuple[tuple[str, str, Callable[[CostRow], float], Callable[[float], str]], ...] = (
    ("State after so many tokens", "bytes of state", lambda row: row.state_bytes, size),
    ("Time of one more token", "milliseconds a token", lambda row: row.token_ms, lambda v: f"{v:.3g} ms"),
    ("Kept by a training step", "bytes kept for the gradient", lambda row: row.step_bytes, size),
    ("Speed of a training step", "tokens a second", lambda row: row.step_tokens_per_s, lambda v: f"{v:,.0f}/s"),
)
"""Name, axis, value, and the value in words."""


def remembering(found: Compare) -> Markup:
    """On softmax attention."""
    first, last = _ends(found)
    cost = found.cost("softmax")
    small, large = cost.rows[0], cost.rows[-1]
    slower = large.token_ms / small.token_ms
    distance, share = far(found.of(task(found))["softmax"].reach)
    time = (
        f"One more token takes {small.token_ms:.2g} ms behind {first:,} tokens and {large.token_ms:.2g} ms behind "
        f"{last:,}, {times(slower)} as long."
        if slower > AHEAD
        else f"One more token takes {large.token_ms:.2g} ms even behind {last:,}: at this length and size what grows "
        "is not yet felt in time."
    )
    return section(
        "remembering",
        "Softmax attention: nothing is forgotten, and it has its price",
        paragraph(
            "A Transformer keeps keys k and values v of all tokens, and every token asks all of them, by its query q,"
            " how much they matter to it:"
        ),
        models.softmax(),
        paragraph(
            "To any token, however far back, it is a single step, so no factor for every token stands in the way"
            " of the "
            f"gradient. {distance:,} tokens back {gradient(share)} is left of the last one's in the softmax model:"
            " what remains to be shared out is one attention among more and more tokens.",
        ),
        paragraph(
            f"The price is that the state grows: {size(small.state_bytes)} after {first:,} tokens, "
            f"{size(large.state_bytes)} after {last:,}, {times(large.state_bytes / small.state_bytes)} as much."
            if last > first
            else "",
            time if last > first else "",
            "All pairs of tokens have to be compared, which is work that grows with the square of the length.",
        ),
        _figure(found),
    )


def both(found: Compare) -> Markup:
    """On linear attention."""
    names = [name for name in found.models if name in models.LINEAR]
    forgetting = [name for name in names if name != "linear"]
    return section(
        "both",
        "Linear attention: a Transformer that is a recurrent net",
        paragraph(
            "Let the weight of a token be a product of features, φ(q)·φ(k), in the place of the exponential of"
            " q·k. Then"
            " the query can be taken out of the sums:"
        ),
        models.linear_parallel(),
        paragraph(
            "What is left of the sums does not depend on who asks. It need not be summed anew for every token:"
            " it can be"
            " kept, and each token adds its own share. That is a recurrent net, whose state is a matrix S and a"
            " vector z"
            " (Katharopoulos et al. 2020):"
        ),
        models.linear_recurrent(),
        paragraph(
            "The same numbers come of both. For training all tokens are worked out side by side, as in a Transformer;"
            " for reading on and on, one after the other, as in a recurrent net. And since tokens are added to"
            " the state"
            " and not passed through a matrix, no factor stands in the way of their gradients."
        ),
        paragraph(*(_linear(found, name) for name in names), _against(found, names)),
        *(
            [
                paragraph(
                    f"What only adds never forgets, and a matrix of fixed size fills up. So {listed(forgetting)}"
                    f" {'fades' if len(forgetting) == 1 else 'fade'} it, by rates that are learned:"
                ),
                models.gated_recurrent(),
            ]
            if forgetting
            else []
        ),
        Markup("") if "softmax" in found.models else _figure(found),
    )


def constant(cost: Cost) -> bool:
    """Whether its state stays as large as it is."""
    return cost.rows[-1].state_bytes <= GROWS * cost.rows[0].state_bytes


def _ends(found: Compare) -> tuple[int, int]:
    rows = found.costs[0].rows
    return rows[0].length, rows[-1].length


def _linear(found: Compare, name: str) -> str:
    cost = found.cost(name)
    _, last = _ends(found)
    stays = "after any number of tokens" if constant(cost) else f"after {last:,} tokens"
    distance, share = far(found.of(task(found))[name].reach)
    return (
        f"The {name} model keeps {size(cost.rows[-1].state_bytes)} {stays}; {distance:,} tokens back"
        f" {gradient(share)} of"
        " the gradient is left."
    )


def _against(found: Compare, names: list[str]) -> str:
    """Beside softmax: from which length its state is the larger one, and who is faster at the longest."""
    if "softmax" not in found.models:
        return ""
    softmax = found.cost("softmax").rows[-1]
    a_token = softmax.state_bytes / softmax.length
    larger = [(name, math.ceil(found.cost(name).rows[-1].state_bytes / a_token)) for name in names]
    beside = [f"than that of {name} from {tokens:,}" for name, tokens in larger]
    one = f"Beside it softmax has the larger one from {larger[0][1]:,} tokens on."
    told = one if len(names) == 1 else f"The state of softmax is larger {listed(beside)} tokens on."
    faster = [name for name in names if found.cost(name).rows[-1].token_ms * AHEAD < softmax.token_ms]
    slower = [name for name in names if name not in faster]
    if faster:
        best = min(faster, key=lambda name: found.cost(name).rows[-1].token_ms)
        ratio = softmax.token_ms / found.cost(best).rows[-1].token_ms
        verb = "is" if len(faster) == 1 else "are"
        most = f"{best} " if len(faster) > 1 else ""
        told += f" Behind {softmax.length:,} tokens {listed(faster)} {verb} faster by the token, {most}{times(ratio)}."
    if slower:
        verb = "is" if len(slower) == 1 else "are"
        told += (
            f" Behind {softmax.length:,} tokens {listed(slower)} {verb} not faster by the token yet: here the"
            " models are"
            " so small that the bookkeeping of the state takes longer than comparing so many keys."
        )
    return told


def _figure(found: Compare) -> Markup:
    lengths = [row.length for row in found.costs[0].rows]
    views = [
        View(
            x=Axis(label="tokens", logarithmic=True, ticks=named(lengths)),
            panels=[
                Panel(
                    y=Axis(label=axis, logarithmic=True),
                    marks=[
                        Line(
                            name=cost.model,
                            x=lengths,
                            y=[value(row) for row in cost.rows],
                            colour=colour(found.models, cost.model),
                            dots=True,
                        )
                        for cost in found.costs
                    ],
                    height=320,
                )
            ],
            name=name,
        )
        for name, axis, value, _ in MEASURES
    ]
    rows = [
        [name, f"{row.length:,}", *(said(value(cost.rows[i])) for cost in found.costs)]
        for name, _, value, said in MEASURES
        for i, row in enumerate(found.costs[0].rows)
    ]
    caption = (
        "What each model costs against length: one record, one thread. State: all that must be kept of the tokens read "
        "to read on. Kept by a training step: what the forward pass leaves for the backward one, parameters not"
        " counted. "
        "Both axes are logarithmic."
    )
    return figure(
        "costs",
        views,
        caption,
        table(["measure", "tokens", *found.models], rows, "Memory and time against length"),
        choose="Measure",
    )
