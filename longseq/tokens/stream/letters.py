"""Facts about single characters that hold in any version of Unicode a tokenizer may have been built with.

A fact is True, False, or None where versions may differ: a character newer than the engine's tables is unassigned to
it. Whatever is proven from these facts treats None as the worse of both.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

Fact: TypeAlias = bool | None
Test: TypeAlias = Callable[[str], Fact]
"""A question about one character."""

_SPACES = frozenset("\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(c) for c in range(0x2000, 0x200B)}
_DISPUTED_SPACES = frozenset("\x1c\x1d\x1e\x1f\x85\u180e\u200b\ufeff")
"""Space to some engines only."""
_PUNCTUATION = frozenset(r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~""")


def either(*facts: Fact) -> Fact:
    """Three-valued or."""
    if any(facts):
        return True
    return None if None in facts else False


def negated(fact: Fact) -> Fact:
    """Three-valued not."""
    return None if fact is None else not fact


@lru_cache(65536)
def in_category(letter: str, category: str) -> Fact:
    """Whether the general category begins with `category` (`L`, `Lu`, `N` …)."""
    now = unicodedata.category(letter)
    if now == "Cn":
        return None
    if not now.startswith(category):
        return False
    return True if letter.isascii() or unicodedata.ucd_3_2_0.category(letter) == now else None


def is_space(letter: str) -> Fact:
    """The White_Space property."""
    if letter in _SPACES:
        return True
    return None if letter in _DISPUTED_SPACES or unicodedata.category(letter) == "Cn" else False


def is_punctuation(letter: str) -> Fact:
    """ASCII punctuation and symbols, and the categories P*."""
    return True if letter in _PUNCTUATION else in_category(letter, "P")


def is_number(letter: str) -> Fact:
    """The categories N*."""
    return in_category(letter, "N")


def is_word(letter: str) -> Fact:
    """`\\w`: engines differ on numbers that are no digits and on circled letters."""
    if letter == "_":
        return True
    if any(in_category(letter, c) is not False for c in ("Nl", "No", "So", "Pc", "Cf")):
        return None
    return either(*(in_category(letter, c) for c in ("L", "M", "Nd")))


@lru_cache(65536)
def composes(letter: str) -> bool:
    """Whether a normal form (UAX 15) may join or reorder `letter` with what stands before it."""
    first = unicodedata.normalize("NFKD", letter)[0]
    return (
        unicodedata.combining(first) != 0
        or unicodedata.category(first) in ("Mn", "Mc", "Me", "Cn", "Cs")
        or first in _second_letters()
    )


@lru_cache(1)
def _second_letters() -> frozenset[str]:
    """Characters that stand second in a canonical decomposition; the vowels and finals of Hangul compose by rule."""
    found = {chr(c) for c in range(0x1160, 0x1200)} | {chr(c) for c in range(0xD7B0, 0xD800)}
    for code in range(0x30000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)


def one_grapheme(before: str, letter: str) -> bool:
    """Whether the two may lie in one extended grapheme cluster (UAX 29)."""
    if letter.isascii() and letter.isprintable():
        return unicodedata.category(before) in ("Cf", "Cn", "Cs", "Co") or _prepended(before)
    plain = unicodedata.category(letter) in ("Lu", "Ll", "Lt", "Lo", "Nd", "Po", "Ps", "Pe", "Pd", "Pi", "Pf", "Zs")
    if not plain or composes(letter) or letter in "\u0e33\u0eb3" or 0x1100 <= ord(letter) <= 0x11FF:
        return True
    return unicodedata.category(before)[0] in "CM" or _prepended(before)


def _prepended(letter: str) -> bool:
    """Letters of the class Prepend, with a margin around them."""
    return letter == "\u0d4e" or 0x11000 <= ord(letter) < 0x1B000
