"""Raised digits: the number of a note, or a power. They become superscripts, so that no word swallows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

LEAST, MOST = 0.15, 0.8
"""How far above its line's the base of a raised digit lies, by the height of the line's letters."""
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_DIGITS = range(ord("0"), ord("9") + 1)
_FIRST = re.compile(rf"[{SUPERSCRIPTS}]+")
# Behind a mark or three letters: behind fewer it may be a power of a unit or of a variable.
_CALL = re.compile(rf"(?:(?<=[^\W\d_]{{3}})|(?<=[.,:;!?)\]»”’\"'。，、]))[{SUPERSCRIPTS}]+")


def raise_digits(
    line: Sequence[tuple[int, int]],
    codes: list[int],
    base: Callable[[int], float],
    height: Callable[[int], float],
) -> None:
    """Put superscripts in the place of digits that stand higher than the letters beside them.

    Args:
        line: Words of a line, as ranges of `codes`.
        codes: Characters of the page.
        base: Where the base line of a character lies.
        height: Of a character.
    """
    for k, (start, end) in enumerate(line):
        digits = [i for i in range(start, end) if codes[i] in _DIGITS]
        if not digits or end - start > 64:
            continue
        near = min(range(start, end), key=base)
        beside = line[k - 1][0] if k else line[k + 1][0] if k + 1 < len(line) else near
        if base(beside) < base(near):
            near = beside
        low, size = base(near), height(near)
        for i in digits:
            if LEAST * size < base(i) - low < MOST * size:
                codes[i] = ord(SUPERSCRIPTS[codes[i] - _DIGITS.start])


def numbers_of(notes: Iterable[str]) -> set[str]:
    """The raised numbers with which these notes begin."""
    return {found[0] for note in notes if (found := _FIRST.match(note))}


def without_calls(text: str, numbers: set[str]) -> str:
    """A text without the raised numbers that call these notes: they are no part of its sentences."""
    return _CALL.sub(lambda call: "" if call[0] in numbers else call[0], text) if numbers else text
