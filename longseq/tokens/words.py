"""Words of a text: how many there are, and the terms by which texts are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
"""Japanese syllables, for a character class."""
CJK = _HAN + KANA
"""Chinese and Japanese letters, for a character class: they stand without spaces and count as a word each."""

_UNSPACED = CJK + "\u0e01-\u0eff\u1000-\u109f\u1780-\u17dd"  # Thai, Lao, Burmese, Khmer: no spaces between words either
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u0900-\u0963\u0966-\u0dff"
)
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"  # to `re` a vowel sign is no word character
_TERMS = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:['’]{_LETTER}+)*")
UNSPACED = re.compile(rf"[{_UNSPACED}]")
"""A letter of a script without spaces between words."""
_COUNTED = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def terms_and_pairs(text: str) -> list[str]:
    """The terms of a text, pairs of neighbouring words among them, and single letters of scripts without spaces: what
    classes are told by."""
    found = terms(text)
    pairs = [f"{a} {b}" for a, b in pairwise(found) if not (UNSPACED.match(a) or UNSPACED.match(b))]
    return found + pairs + UNSPACED.findall(text)


def count_words(text: str) -> int:
    """Words as an editor counts them: between blanks, with a letter or digit in it; each CJK letter is one."""
    return sum(1 for word in _COUNTED.findall(text) if word.isalnum() or _LETTER_OR_DIGIT.search(word))


def terms(text: str) -> list[str]:
    """Case-folded words in order; a run of a script without spaces gives its pairs of neighbouring letters.

    `"The tide's 3 marks"` gives the, tide's, 3, marks; `"灯塔守"` gives 灯塔, 塔守.
    """
    found: list[str] = []
    for run in _TERMS.findall(text.casefold()):
        if run[0] > "\u0e00" and UNSPACED.match(run):
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            found.append(run)
    return found


def runs(text: str) -> Iterator[tuple[int, int]]:
    """`[start, end)` of each word, and of each run of a script without spaces."""
    return (found.span() for found in _TERMS.finditer(text))


def letters_and_words(text: str) -> list[str]:
    """Case-folded words in order, of a script without spaces its letters: `"灯塔 Mark 3"` gives 灯, 塔, mark, 3."""
    found: list[str] = []
    for run in _TERMS.findall(text.casefold()):
        found += run if run[0] > "\u0e00" and UNSPACED.match(run) else [run]
    return found
