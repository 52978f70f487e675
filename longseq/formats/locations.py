"""Where a feature of a GenBank file lies: `complement(join(2..5,8..12))` in parts, and in what order they are read.

Source: "The DDBJ/ENA/GenBank Feature Table Definition", section 3.4 (locations).
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from longseq.records import coordinate

DEEPEST = 100
"""Brackets in brackets; who writes features needs three."""

_TOKEN = re.compile(r"(?P<operator>complement|join|order|one-of|bond|group)\(|(?P<mark>[,)])|(?P<place>[^(),]+)")
_PLACE = re.compile(r"[<>]?([0-9]+)(?:\.\.?[<>]?([0-9]+))?")
_BETWEEN = re.compile(r"[0-9]+\^[0-9]+")


class Location(NamedTuple):
    """The parts of a location that are bases of its own record."""

    parts: list[tuple[int, int, Literal["+", "-"]]]
    """Start (0-based), end and strand of each, as they are written."""
    read: list[int]
    """Which part is read first, which second: inside a complement the last one is."""
    whole: bool
    """Nothing of it lies on another record or between two bases."""


def located(text: str) -> Location:
    """The parts of a location without blanks.

    Raises:
        ValueError: it is none, or a part ends before it starts.
    """
    found = Location([], [], True)
    opened: list[tuple[bool, int]] = []  # whether it turns what is in it, and where that begins in `read`
    at, wanted = 0, True  # a place or an operator, rather than a comma or a bracket
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or wanted == (token.lastgroup == "mark"):
            raise ValueError(text)
        at = token.end()
        if token["operator"]:
            opened.append((token["operator"] == "complement", len(found.read)))
            if len(opened) > DEEPEST:
                raise ValueError(text)
        elif token["place"]:
            wanted = False
            if ":" in token[0] or _BETWEEN.fullmatch(token[0]):
                found = found._replace(whole=False)
                continue
            start, end = _ends(token[0])
            turned = sum(turns for turns, _ in opened) % 2
            found.read.append(len(found.parts))
            found.parts.append((start, end, "-" if turned else "+"))
        elif not opened:
            raise ValueError(text)
        elif token[0] == ",":
            wanted = True
        else:
            turns, first = opened.pop()
            if turns:
                found.read[first:] = found.read[first:][::-1]
    if wanted or opened:
        raise ValueError(text)
    return found


def _ends(place: str) -> tuple[int, int]:
    numbers = _PLACE.fullmatch(place)
    first = coordinate(numbers[1]) if numbers else None
    last = coordinate(numbers[2] or numbers[1]) if numbers else None
    if first is None or last is None or not 1 <= first <= last:
        raise ValueError(place)
    return first - 1, last
