"""Words without their English endings, lightly: enough that a question finds the answer in another form.

Only endings that are safe without a dictionary go: plurals, -ed, -ing, -ly and a final e. Words of other scripts and
words with digits are returned as they are; words of other languages lose an ending now and then, the same one
everywhere, so that two equal words stay equal.
"""

from __future__ import annotations

import re
from functools import lru_cache

SHORTEST = 4
"""Letters; a shorter word keeps all of them."""
_VOWEL = re.compile(r"[aeiouy]")
_SHORT = re.compile(r"[^aeiouy][aeiouy][^aeiouywx]")  # what hid- is of hiding; box- of boxing is whole
_DOUBLE = re.compile(r"([bdfgklmnprtvz])\1$")


@lru_cache(1 << 16)
def stem(word: str) -> str:
    """`stem("lighted")` and `stem("lighting")` are `light`; `word` is in lower case."""
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) > 2 and _VOWEL.search(rest):
            word = rest
            if ending != "ly" and len(word) > 3 and _DOUBLE.search(word):
                word = word[:-1]
            elif ending != "ly" and _SHORT.fullmatch(word):
                word += "e"
            break
    if word.endswith("e") and len(word) > 4:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word
