"""How far gradients reach back: the section on recurrent nets, and what it says of the others."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from longseq.report.compare import LEAST, TITLES, gradient
from longseq.report.compare_page import models
from longseq.report.compare_page.words import colour, each, listed, paragraph, section, times
from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Line, Panel, View, named
from longseq.report.page import Markup, table
from longseq.results.compare import BASES, Compare, Learned, Reach

FLAT = 0.98
"""A factor a token above which nothing is said to vanish."""
MIDDLE = 64
"""Tokens back, in sentences."""


class Fall(NamedTuple):
    """How gradients get smaller with distance."""

    exponential: bool
    """A factor a token describes it better than a power of the distance."""
    factor: float
    """Of the last token's, that of the token before it, on average."""


def fall(reach: Reach) -> Fall:
    """Least squares on the logarithm of the norms after training, against the distance and against its logarithm."""
    distance, norm = np.array(reach.distances, float), np.array(reach.trained)
    there = norm > 0
    if there.sum() < 3:
        return Fall(True, 0.0)
    y = np.log(norm[there])

    def fitted(x: np.ndarray) -> tuple[float, float]:
        """Slope, and what is left unexplained."""
        slope, start = np.polyfit(x, y, 1)
        return float(slope), float(((y - start - slope * x) ** 2).sum())

    (slope, by_factor), (_, by_power) = fitted(distance[there]), fitted(np.log(distance[there]))
    return Fall(by_factor < by_power and math.exp(slope) < FLAT, math.exp(slope))


def task(found: Compare) -> str:
    """On which gradients are told in sentences."""
    names = [one.name for one in found.tasks]
    return BASES if BASES in names else names[0]


def looking_back(found: Compare) -> Markup:
    learned = found.of(task(found))
    nets = [name for name in found.models if name in models.RECURRENT]
    gates = [name for name in found.models if name in models.GATED_NETS]
    parts = [
        paragraph(
            "A recurrent net reads one token after the other, and all that it keeps of them is a vector of fixed size,"
            " made anew from the last one and the token:"
        ),
        models.recurrent(),
        paragraph(
            "So it can read for ever. But what the first token left behind has gone through the same matrix once for"
            " every token since, and so has the gradient by which the net would learn that it mattered: a factor for"
            " every token back, and a product of many factors below one is nothing. The figure shows it: how much the"
            " loss of one token still depends on the token so many places before it."
        ),
        _figure(found),
        paragraph(*(_net(name, learned[name].reach) for name in nets)),
    ]
    if gates:
        parts += [
            paragraph("Gates were the first cure. An LSTM adds to a second vector instead of making it anew:"),
            models.gated_net(),
            paragraph(
                "Where the gate f stands near one, the factor is near one, and the gradient lives on.",
                _gates(learned, gates, nets),
            ),
        ]
    return section("looking-back", "Recurrent nets: one vector, made anew with every token", *parts)


def far(reach: Reach, distance: int = MIDDLE) -> tuple[int, float]:
    """The farthest distance up to `distance`, and what is left there of the gradient at distance 1."""
    return max(d for d in reach.distances if d <= distance), reach.share(distance)


def _net(name: str, reach: Reach) -> str:
    how, (distance, share) = fall(reach), far(reach)
    told = (
        f"In the {name} model, after training, {distance:,} tokens back {gradient(share)} is left of the last token's"
    )
    if how.exponential:
        return f"{told}. It falls exponentially: every token back multiplies it by about {how.factor:.2f}."
    return (
        f"{told}. Here the fall is no clean exponential: a power of the distance describes it as well as a factor"
        " for every token."
    )


def _gates(learned: dict[str, Learned], gates: list[str], nets: list[str]) -> str:
    shares = {name: far(learned[name].reach)[1] for name in gates}
    distance = far(learned[gates[0]].reach)[0]
    told = f"At {distance:,} tokens back there is left {each({name: gradient(s) for name, s in shares.items()})}"
    if not nets:
        return f"{told}."
    plain = far(learned[nets[0]].reach)[1]
    better = [name for name in gates if shares[name] > 10 * plain]
    if not better:
        return f"{told}: in this run no more than in {nets[0]}, {gradient(plain)}, for gates have to be learned too."
    more = f" more than {times(min(shares[name] for name in better) / plain)}" if plain else ""
    verb = "keeps" if len(better) == 1 else "keep"
    others = [name for name in gates if name not in better]
    but = f", {listed(others)} no more" if others else ""
    return f"{told}: {listed(better)} {verb}{more} what {nets[0]} does{but}."


def _figure(found: Compare) -> Markup:
    views = []
    order = [task(found), *(one.name for one in found.tasks if one.name != task(found))]
    for name in order:
        for which, words in (("trained", "after training"), ("initial", "before training")):
            views.append(_view(found, name, which, f"{TITLES[name]}, {words}"))
    learned = found.of(order[0])
    distances = next(iter(learned.values())).reach.distances
    rows = [[f"{d:,}", *(gradient(one.reach.trained[i]) for one in learned.values())] for i, d in enumerate(distances)]
    falling = [
        name
        for name in (*models.RECURRENT, *models.GATED_NETS)
        if name in learned and fall(learned[name].reach).exponential
    ]
    seen = f" Here {listed(falling)} {'falls' if len(falling) == 1 else 'fall'} exponentially." if falling else ""
    caption = (
        "Norm of the gradient of one token's loss with respect to the embedding of an earlier token, mean over "
        f"{found.config['reach']['examples']} random sequences, against their distance. Both axes are logarithmic: a "
        "straight line is a power of the distance, a curve that plunges is an exponential; below "
        f"{LEAST:g} a line leaves the picture.{seen}"
    )
    note = f"{TITLES[order[0]]}, after training: gradient norms"
    return figure("gradients", views, caption, table(["tokens back", *learned], rows, note), choose="Gradients of")


def _view(found: Compare, name: str, which: str, called: str) -> View:
    learned = found.of(name)
    distances = next(iter(learned.values())).reach.distances
    ticks = named([d for d in distances if d & (d - 1) == 0])
    norms = {model: np.array(getattr(one.reach, which), float) for model, one in learned.items()}
    marks = [
        # a norm of nothing has no logarithm; one far below the picture draws the line out of it
        Line(
            name=model,
            x=distances,
            y=np.where(norm > 0, np.maximum(norm, LEAST**3), LEAST**3),
            colour=colour(found.models, model),
            dots=True,
        )
        for model, norm in norms.items()
    ]
    top = max(float(norm.max()) for norm in norms.values())
    powers = {10.0**n: f"1e{n}" if n else "1" for n in range(-12, 4, 3)}
    y = Axis(label="gradient norm", logarithmic=True, low=LEAST, high=2 * top if top > 0 else 1.0, ticks=powers)
    return View(
        x=Axis(label="tokens back", logarithmic=True, ticks=ticks),
        panels=[Panel(y=y, marks=marks, height=340)],
        name=called,
    )
