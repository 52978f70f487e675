"""Words around figures: lists, shares, and models by the figures they reached."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from longseq.report.figures.marks import COLOURS
from longseq.report.page import Markup, element

WRITTEN = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def listed(parts: Iterable[str]) -> str:
    """`a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def each(values: Mapping[str, str]) -> str:
    """`rnn 0.1, lstm 0.2 and gru 0.3`."""
    return listed(f"{name} {value}" for name, value in values.items())


def written(number: int) -> str:
    """A small number as a word."""
    return WRITTEN[number] if number < len(WRITTEN) else f"{number:,}"


def times(ratio: float) -> str:
    """`3.2 times`, `64 times`, `10⁹ times`."""
    if ratio >= 1e6:
        return f"10{str(math.floor(math.log10(ratio))).translate(RAISED)} times"
    return f"{ratio:.2g} times" if ratio < 9.95 else f"{ratio:,.0f} times"


def section(place: str, title: str, *parts: Markup) -> Markup:
    inside = [Markup(f"\n{part}") for part in parts if part]
    return element("section", element("h2", title), *inside, Markup("\n"), id=place)


def paragraph(*sentences: str | Markup) -> Markup:
    """Those that say something, one after the other."""
    said: list[str | Markup] = []
    for sentence in sentences:
        if sentence:
            said += [" ", sentence] if said else [sentence]
    return element("p", *said)


def colour(models: Sequence[str], model: str) -> int:
    """The same for a model in all figures."""
    return models.index(model) % (COLOURS - 1)
