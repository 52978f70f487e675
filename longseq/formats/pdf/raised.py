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
_CALLS = rf" ?[{SUPERSCRIPTS}]+(?:[,–-][{SUPERSCRIPTS}]+)*"
_BEHIND_STOP = re.compile(rf"(?<=[.,:;!?»”’\"。，、]){_CALLS}")
# Behind a bracket, or fewer than three letters, it may be a power.
_BEHIND_WORD = re.compile(rf"(?:(?<=[^\W\d_]{{3}})|(?<=[)\]])){_CALLS}")


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
        before = words[k - 1][1] - 1 if k else lowest
        after = words[k + 1][0] if k + 1 < len(words) else lowest
        for i in digits:
            if _is_above(i, lowest, base, box) or any(
                _is_near(box(i), box(other)) and _is_above(i, other, base, box) for other in (before, after)
            ):
                codes[i] = ord(SUPERSCRIPTS[codes[i] - _DIGITS.start])


def _is_above(digit: int, other: int, base: Callable[[int], float], box: Callable[[int], Box]) -> bool:
    """Whether a digit is raised above another character, and smaller."""
    here, there = box(digit), box(other)
    size = there[3] - there[1]
    return here[3] - here[1] < SMALLER * size and LEAST * size < base(digit) - base(other) < MOST * size


def _is_near(here: Box, there: Box) -> bool:
    """Whether the gap between two characters is one between words."""
    size = there[3] - there[1]
    return there[0] - here[2] < size and here[0] - there[2] < size


def begins_note(text: str) -> bool:
    """Whether a line begins with a raised number."""
    return _FIRST.match(text) is not None


def numbers_of(notes: Iterable[str]) -> set[str]:
    """The raised numbers with which these notes begin."""
    return {found[0] for note in notes if (found := _FIRST.match(note))}


def without_calls(text: str, numbers: set[str]) -> str:
    """A text without the raised numbers that call notes, which are no part of its sentences.

    Behind a stop it is a call anyhow; behind a word or a bracket if `numbers`, those of the page's notes, hold it.
    """

    def told(call: re.Match[str]) -> str:
        found = _FIRST.findall(call[0])
        return "" if all(one in numbers or numbers.issuperset(one) for one in found) else call[0]  # of two notes: ²³

    text = _BEHIND_STOP.sub("", text)
    return _BEHIND_WORD.sub(told, text) if numbers else text
