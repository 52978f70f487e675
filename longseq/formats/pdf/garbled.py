"""Whether the letters of a page are those that one sees on it."""

from __future__ import annotations

import unicodedata
from collections import Counter

SHARE = 0.2
"""Of first letters of words in fonts that do not say which characters they are."""
STRANGE = 0.1
"""Of characters that no text has: private, unassigned, controls."""
FEWEST = 20
"""Letters; less says nothing."""
_EAST = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO", "HANGUL", "FULLWIDTH", "HALFWIDTH")


def garbled(text: str, words: int, unmapped: int) -> bool:
    """Whether a text layer holds other letters than the page shows.

    Garble comes out as valid letters, so it is known by the fonts (`unmapped` of `words` begin with a letter whose
    font has no map to Unicode) and by scripts that change inside words.
    """
    letters = [c for c in text if not c.isspace()]
    if len(letters) < FEWEST:
        return False
    strange = sum(unicodedata.category(c) in ("Co", "Cn", "Cc", "Cs") or c == "\ufffd" for c in letters)
    if strange > STRANGE * len(letters) or unmapped > SHARE * words:
        return True
    return _mixed(text)


def _mixed(text: str) -> bool:
    """Whether neighbouring letters are often of different scripts, or of many scripts that nobody mixes."""
    scripts: Counter[str] = Counter()
    changes = pairs = 0
    before = ""
    for letter in text:
        script = _script(letter) if letter.isalpha() else ""
        if script:
            scripts[script] += 1
            if before:
                pairs += 1
                changes += script != before
        before = script
    total = sum(scripts.values())
    if total < FEWEST:
        return False
    many = sum(n >= 0.03 * total for n in scripts.values())
    return (changes > 0.15 * max(pairs, 1) and pairs > FEWEST) or many >= 5


def _script(letter: str) -> str:
    if letter.isascii():
        return "LATIN"
    name = unicodedata.name(letter, "").split(" ", 1)[0]
    return "CJK" if name in _EAST or name.startswith("CJK") else name
