"""Raised digits: the number of a note, or a power. They become superscripts, so that no word swallows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

LEAST, MOST = 0.15, 0.8
"""How far above its line's the base of a raised digit lies, by the height of the line's letters."""
SMALLER = 0.9
"""Height of its box at most, by theirs."""
LONGEST = 64
"""Characters of a word that is looked at."""
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
Box = tuple[float, float, float, float]
_DIGITS = range(ord("0"), ord("9") + 1)
_FIRST = re.compile(rf"[{SUPERSCRIPTS}]+")
# Behind a mark or three letters: behind fewer it may be a power of a unit or of a variable.
_CALL = re.compile(rf"(?:(?<=[^\W\d_]{{3}})|(?<=[.,:;!?)\]»”’\"'。，、]))[{SUPERSCRIPTS}]+")


def raise_digits(
    words: Sequence[tuple[int, int]], codes: list[int], base: Callable[[int], float], box: Callable[[int], Box]
) -> None:
    """Put superscripts in the place of digits that stand higher than the letters beside them.

    Args:
        words: Of a page, as ranges of `codes`.
        codes: Characters of the page.
        base: Where the base line of a character lies.
        box: Left, lower, right and upper edge of a character.
    """
    for k, (start, end) in enumerate(words):
        digits = [i for i in range(start, end) if codes[i] in _DIGITS]
        if not digits or end - start > LONGEST:
            continue
        lowest = min(range(start, end), key=base)
        beside = [words[n][side] - side for n, side in ((k - 1, 1), (k + 1, 0)) if 0 <= n < len(words)]
        for i in digits:
            if any(_above(i, other, base, box) for other in (lowest, *beside)):
                codes[i] = ord(SUPERSCRIPTS[codes[i] - _DIGITS.start])


def _above(digit: int, other: int, base: Callable[[int], float], box: Callable[[int], Box]) -> bool:
    """Whether a digit is raised above, and smaller than, another character of its line, or of the word beside it."""
    here, there = box(digit), box(other)
    size, small = there[3] - there[1], here[3] - here[1]
    near = there[0] - here[2] < size and here[0] - there[2] < LONGEST * size
    return near and small < SMALLER * size and LEAST * size < base(digit) - base(other) < MOST * size


def numbers_of(notes: Iterable[str]) -> set[str]:
    """The raised numbers with which these notes begin."""
    return {found[0] for note in notes if (found := _FIRST.match(note))}


def without_calls(text: str, numbers: set[str]) -> str:
    """A text without the raised numbers that call these notes: they are no part of its sentences."""
    return _CALL.sub(lambda call: "" if call[0] in numbers else call[0], text) if numbers else text
