"""What stands around the sentences of a summary, for a page that shows them where they were found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from longseq.results.document import Context
from longseq.tasks.document.manuscript import Manuscript

REACH = 400
"""Code points shown before a sentence and behind it at most; a paragraph's end comes first."""
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


class Spot(NamedTuple):
    """A sentence in a text of one document or of many."""

    start: int
    end: int
    first: int
    """Where its document begins."""
    last: int
    """Where that ends."""


def contexts(text: Manuscript, spots: Sequence[Spot]) -> Iterator[Context]:
    """Stretches of the text that hold these sentences, in order; those that would overlap are one."""
    held: tuple[int, int, list[int]] | None = None  # start, end, numbers of sentences
    for number, spot in enumerate(spots):
        start, end = _before(text, spot), _behind(text, spot)
        if held is not None and start <= held[1] and spots[held[2][0]].first == spot.first:
            held = (held[0], max(held[1], end), [*held[2], number])
            continue
        if held is not None:
            yield _context(text, *held, spots)
        held = (start, end, [number])
    if held is not None:
        yield _context(text, *held, spots)


def _context(text: Manuscript, start: int, end: int, numbers: list[int], spots: Sequence[Spot]) -> Context:
    spot = spots[numbers[0]]
    return Context(
        start=start - spot.first,
        text=text.read(start, end).text,
        cut_before=start > spot.first and not _breaks(text.read(max(start - 2, spot.first), start).text),
        cut_after=end < spot.last and not _breaks(text.read(end, min(end + 2, spot.last)).text),
        sentences=tuple(numbers),
    )


def _breaks(text: str) -> bool:
    return not text.strip()


def _before(text: Manuscript, spot: Spot) -> int:
    low = max(spot.first, spot.start - REACH)
    before = text.read(low, spot.start).text
    ends = [found.end() for found in _PARAGRAPH.finditer(before)]
    if ends:
        return low + ends[-1]
    return low if low == spot.first else low + _word(before)


def _behind(text: Manuscript, spot: Spot) -> int:
    high = min(spot.last, spot.end + REACH)
    behind = text.read(spot.end, high).text
    if (found := _PARAGRAPH.search(behind)) is not None:
        return spot.end + found.start()
    return high if high == spot.last else high - _word(behind[::-1])


def _word(text: str) -> int:
    """Letters of a word that is cut at the front; none where there are no blanks."""
    found = re.search(r"\s+", text)
    return found.end() if found is not None and found.end() < REACH // 4 else 0
