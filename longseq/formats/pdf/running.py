"""Heads and feet: lines at the edges of pages that come again on other pages, their numbers aside."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from longseq.formats.pdf.order import Line

AROUND = 8
"""Pages before and after that are compared."""
EDGE = 3
"""Lines at an edge of a page that may be a head or a foot."""
SURE = 3
"""Other pages that have a line which no gap parts from the text."""
LONGEST_NUMBER = 40
"""Characters of a line that numbers its page."""
NEAR = 4.0
"""Points that a head may stand higher or lower on another page."""
_FOLDED = re.compile(r"\d+|^[ivxlcdm]+\b|\b[ivxlcdm]+$")
_PAGE_NUMBER = re.compile(
    r"\W*(?:page|p\.|seite|第)?\s*#\s*(?:(?:of|/|von|页|頁|共)\s*)*#?\s*(?:页|頁)?\W*", re.IGNORECASE
)


class Edge(NamedTuple):
    """A line near the top or the foot of a page."""

    top: bool
    y: float
    key: str
    """Its text with digits and Roman numerals folded."""
    apart: bool
    """Whether a wider gap than between lines of text lies between it and the text."""
    large: bool
    """Whether its letters are larger than the page's."""

    def like(self, other: Edge) -> bool:
        """Whether the other one, of another page, says the same at the same place."""
        return self.top == other.top and self.key == other.key and abs(self.y - other.y) < NEAR


class Body(NamedTuple):
    """A page without its heads and feet."""

    page: int
    lines: list[Line]
    dropped: int
    """Lines left out."""


def without_running(pages: Iterable[tuple[int, list[Line]]]) -> Iterator[Body]:
    """Pages (their index and lines) without heads and feet; `AROUND` pages behind, so that memory stays flat."""
    before: deque[dict[int, Edge]] = deque(maxlen=AROUND)
    ahead: deque[tuple[int, list[Line], dict[int, Edge]]] = deque()
    for index, lines in pages:
        ahead.append((index, lines, _edges(lines)))
        if len(ahead) > AROUND:
            yield _body(ahead, before)
    while ahead:
        yield _body(ahead, before)


def _body(ahead: deque[tuple[int, list[Line], dict[int, Edge]]], before: deque[dict[int, Edge]]) -> Body:
    index, lines, edges = ahead.popleft()
    others = [*before, *(page for _, _, page in ahead)]
    before.append(edges)
    drop: set[int] = set()
    for top in (True, False):
        for at in sorted((i for i, edge in edges.items() if edge.top == top), reverse=not top):
            edge = edges[at]
            number = len(edge.key) <= LONGEST_NUMBER and _PAGE_NUMBER.fullmatch(edge.key)
            told = number or (edge.apart and not edge.large)
            again = sum(any(map(edge.like, page.values())) for page in others)
            if again < (1 if told else SURE) and not _same_place(edge, others):
                break
            drop.add(at)
    return Body(index, [line for i, line in enumerate(lines) if i not in drop], len(drop))


def _same_place(edge: Edge, others: list[dict[int, Edge]]) -> bool:
    """Whether most pages have a line apart from the text just there: a head that changes from page to page."""
    if not edge.apart or edge.large or len(others) < 4:
        return False
    like = sum(any(e.top == edge.top and e.apart and abs(e.y - edge.y) < 1.5 for e in page.values()) for page in others)
    return like >= 0.7 * len(others)


def _edges(lines: list[Line]) -> dict[int, Edge]:
    """By place in the page's lines."""
    order = sorted(range(len(lines)), key=lambda i: -lines[i].y0)
    gaps = [lines[a].y0 - lines[b].y0 for a, b in pairwise(order)]
    usual = median(gap for gap in gaps if gap > 1) if any(gap > 1 for gap in gaps) else 12.0
    height = median(line.height for line in lines) if lines else 0.0
    edges: dict[int, Edge] = {}
    half = len(order) // 2
    for top, side in ((True, order[: min(EDGE, len(order) - half)]), (False, order[::-1][: min(EDGE, half)])):
        inner = order if top else order[::-1]
        for k, i in enumerate(side):
            gap = abs(lines[i].y0 - lines[inner[k + 1]].y0) if k + 1 < len(inner) else usual
            key = " ".join(_FOLDED.sub("#", lines[i].text.casefold()).split())
            edges[i] = Edge(top, lines[i].y0, key, gap > 1.4 * usual, lines[i].height > 1.1 * height)
    return edges
