"""Lines against a length as a picture inside a page: plain SVG, in the page's own colours, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from longseq.report.page import Markup, element

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 14, 44
"""Margins; units of the picture."""
LINES = 5
"""Across the picture at most."""
STYLE = """
:root { --l0: #1f5fa8; --l1: #b5541c; --l2: #3a7d44; --l3: #7a4fa3; }
@media (prefers-color-scheme: dark) { :root { --l0: #7db3ef; --l1: #ee9a66; --l2: #83c78d; --l3: #c3a0e6; } }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, "Noto Sans", sans-serif; fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .at { stroke: var(--ink); stroke-dasharray: 4 4; }
svg polyline { fill: none; stroke-width: 2; } figure { margin: 1em 0; } figcaption { font-size: .82em; }
""" + "".join(
    f".l{i} {{ stroke: var(--l{i}); fill: var(--l{i}); }} b.l{i} {{ color: var(--l{i}); }}\n" for i in range(4)
)
"""Of a page with such pictures."""


@dataclass(frozen=True)
class Line:
    name: str
    points: Sequence[tuple[float, float]]
    """x, above 0, and y."""


@dataclass(frozen=True)
class Scale:
    """Numbers along an axis: `low` stands at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    def at(self, value: float) -> float:
        low, high, here = self.low, self.high, value
        if self.logarithmic:
            low, high, here = math.log(low), math.log(high), math.log(here)
        return self.start + (self.end - self.start) * ((here - low) / (high - low) if high > low else 0.5)


def chart(
    lines: Sequence[Line], x: str, y: str, *, logarithmic: bool = False, marked: tuple[float, str] | None = None
) -> Markup:
    """At most four lines over an x on a logarithmic scale; `x` and `y` name the axes, `marked` is a place on x and what
    is there. A line without points is left out; nothing at all without any."""
    shown = [line for line in lines if line.points]
    if not shown:
        return Markup("")
    places = sorted({point[0] for line in shown for point in line.points})
    values = [point[1] for line in shown for point in line.points]
    across = Scale(places[0], places[-1], LEFT, WIDTH - RIGHT, True)
    ticks = _decades(min(values), max(values)) if logarithmic else _even(min(values), max(values))
    up = Scale(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP, logarithmic)
    parts = [_level(up.at(tick), short(tick)) for tick in ticks]
    parts += [_text(across.at(place), HEIGHT - BOTTOM + 18, short(place)) for place in places]
    parts += [_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x)]
    if marked is not None:
        at = across.at(marked[0])
        parts += [_line(at, TOP, at, HEIGHT - BOTTOM, "at"), _text(at, TOP - 3, marked[1])]
    for number, line in enumerate(shown):
        spots = [(across.at(a), up.at(b)) for a, b in sorted(line.points)]
        parts += [element("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in spots), class_=f"l{number}")]
        parts += [element("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r=3, class_=f"l{number}") for a, b in spots]
    names = [
        Markup(f"{element('b', '●', class_=f'l{number}')} {element('span', line.name)} ")
        for number, line in enumerate(shown)
    ]
    picture = element("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img")
    return element("figure", picture, element("figcaption", f"{y}: ", *names))


def short(value: float) -> str:
    """A number as an axis has room for: 0.25, 512, 16,384, 2M."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:g}M"
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"


def _decades(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten around all values above 0; the powers alone where these are many."""
    for steps in ((1, 2, 5), (1,)):
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        found = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        inside = [tick for tick in found if low < tick < high]
        around = [max(tick for tick in found if tick <= low), *inside, min(tick for tick in found if tick >= high)]
        if len(around) <= LINES + 1:
            break
    return sorted(set(around))


def _even(low: float, high: float) -> list[float]:
    """Round numbers around all values."""
    room = (high - low) or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(room / LINES))
    step *= next(factor for factor in (1, 2, 5, 10) if room / (factor * step) <= LINES)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [tick * step for tick in range(first, max(last, first + 1) + 1)]


def _level(at: float, text: str) -> Markup:
    return Markup(_line(LEFT, at, WIDTH - RIGHT, at, "grid") + _text(LEFT - 6, at + 4, text, "end"))


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=kind)


def _text(x: float, y: float, text: str, anchor: str = "middle") -> Markup:
    return Markup(element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor))
