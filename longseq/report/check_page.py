"""`check.html`: what a check found as a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from longseq.report.check import figure_text, rounded, verdict
from longseq.report.figures.figure import figure
from longseq.report.figures.library import STYLE, scripts
from longseq.report.figures.marks import Axis, Line, Panel, Rule, View, named
from longseq.report.log_ticks import decades
from longseq.report.page import Markup, element, page, table
from longseq.results.check import CheckOutcome, LawResult
from longseq.results.run import Run

HEAD = ("law", "in", "worst", "limit", "share of the limit", "", "cases", "where it came closest")
WIDE = ".ok { color: var(--c2); } .broken { color: var(--warn); font-weight: bold; }\n"


def check_page(outcome: CheckOutcome, run: Run) -> Iterable[str]:
    """The page in pieces."""
    facts = [verdict(outcome), f"longseq {run.version}, {run.device}: {run.command}"]
    return page("The laws of the method on this machine", _body(outcome), STYLE + WIDE, facts=facts, scripts=scripts())


def _body(outcome: CheckOutcome) -> Iterator[str]:
    for number, model in enumerate(dict.fromkeys(law.model for law in outcome.laws), 1):
        laws = [_cells(law) for law in outcome.laws if law.model == model]
        parts = [element("h2", model), table(HEAD, laws, f"Laws of {model}")]
        if drawn := _drift(outcome, model, f"drift-{number}"):
            parts.append(drawn)
        figures = [element("li", figure_text(one)) for one in outcome.figures if one.model == model]
        skipped = [f"{one.law}: not tried, {one.reason}" for one in outcome.skipped if one.model == model]
        if figures or skipped:
            parts.append(element("ul", *figures, *(element("li", line) for line in skipped)))
        yield element("section", *parts) + "\n"


def _cells(law: LawResult) -> tuple[object, ...]:
    mark = element("span", "holds", class_="ok") if law.ok else element("span", "BROKEN", class_="broken")
    figures = (rounded(law.worst), rounded(law.limit), f"{law.share:.2g}", mark, f"{law.cases:,}")
    return law.law, law.precision, *figures, law.what


def _drift(outcome: CheckOutcome, model: str, name: str) -> Markup | None:
    points = [point for point in outcome.drift if point.model == model]
    if not points:
        return None
    lines: list[Line | Rule] = []
    for number, what in enumerate(dict.fromkeys(point.what for point in points)):
        some = [point for point in points if point.what == what]
        errors = [point.error if 0 < point.error < math.inf else math.nan for point in some]
        lines.append(Line(name=what, x=[point.tokens for point in some], y=errors, colour=number, dots=True))
    lines.append(Rule(at=points[0].limit, label="limit", along="y"))
    caption = (
        "How far float32 is from float64 as a record grows: the root of the mean square of the difference, by that of "
        "the exact values. A line that stays level means that nothing is lost over time."
    )
    tokens = sorted({point.tokens for point in points})
    across = Axis(label="tokens read", logarithmic=True, ticks=named(tokens))
    levels = decades([point.error for point in points] + [points[0].limit])
    ticks = {level: f"{level:.0e}" for level in levels}
    up = Axis(label="difference from float64", logarithmic=True, low=levels[0] / 2, high=2 * levels[-1], ticks=ticks)
    panel = Panel(y=up, marks=lines)
    rows = [(point.what, f"{point.tokens:,}", f"{point.error:.1e}", f"{point.limit:.0e}") for point in points]
    seen = table(("of", "tokens", "difference", "limit"), rows, f"Drift of {model}")
    return figure(name, [View(x=across, panels=[panel])], caption, seen)
