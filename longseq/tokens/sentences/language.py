"""In which language a passage is split: its script says so; for Latin letters, the small words it holds."""

from __future__ import annotations

import re

SEEN = 1000
"""Code points of a passage that are looked at."""
FEWEST = 3
"""Different small words of a language, at least, for it to be recognised."""

_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_OTHER = re.compile("[\u0370-\u1dff\u2c00-\u2dff\u3041-\ud7ff\uf900-\ufdff\uff66-\uffdc]")
_SCRIPTS = {
    "ja": re.compile("[\u3041-\u30ff\uff66-\uff9f]"),
    "zh": re.compile("[\u3400-\u9fff\uf900-\ufaff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "hy": re.compile("[\u0531-\u058f]"),
    "th": re.compile("[\u0e01-\u0e5b]"),
}
_SMALL = {
    "en": "the of and to in is that it was for with as his her be by at are from this which not had have or were an",
    "de": "der die das und ist nicht ein eine mit von zu den dem des im auf für sich auch als wird wurde sind er sie",
    "fr": "le la les des et est une dans que qui pour sur pas du au avec plus par ce il elle se ne en un",
    "es": "el la los las de y que en un una por con para es se del al su como más pero lo",
    "it": "il di che la e un una per con non è del della sono gli nel si le lo da i",
    "pt": "o os as de e que em um uma por com para não é do da se na ao dos mais",
    "nl": "de het een en van niet met op dat zijn voor te hij ze aan er ook maar",
}
_WORDS = {language: frozenset(words.split()) for language, words in _SMALL.items()}


def language_of(text: str, latin: str = "en") -> str:
    """ISO 639-1 code for the splitter, from the beginning of `text` alone.

    The script of most letters decides; kana make Chinese characters Japanese. `latin` is taken for Latin letters in
    which no other language is recognised, and where there are no letters.
    """
    seen = text[:SEEN]
    if seen.isascii() or not _OTHER.search(seen):
        return _of_small_words(seen, latin)
    counts = {language: len(script.findall(seen)) for language, script in _SCRIPTS.items()}
    if counts["ja"] * 10 > counts["zh"]:
        counts["ja"] += counts.pop("zh")
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] * 3 > len(_LATIN.findall(seen)) and counts[best] else _of_small_words(seen, latin)


def _of_small_words(text: str, latin: str) -> str:
    words = set(text.casefold().split())
    counts = {language: len(words & small) for language, small in _WORDS.items()}
    best = max(counts, key=counts.__getitem__)
    return best if best != "en" and counts[best] >= max(FEWEST, counts["en"] + 1) else latin
