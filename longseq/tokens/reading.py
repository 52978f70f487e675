"""How long a text takes to read."""

from __future__ import annotations

import re

from longseq.tokens.words import CJK, KANA

WORDS = 238
"""A minute, read silently by adults: Brysbaert (2019), "How many words do we read per minute?", Journal of Memory and
Language 109, of English non-fiction."""
CHINESE, JAPANESE = 255, 357
"""Letters a minute, read aloud by young adults: Trauzettel-Klosinski and Dietz (2012), "Standardized assessment of
reading performance: the new International Reading Speed Texts IReST", IOVS 53."""
_LETTER, _KANA = re.compile(f"[{CJK}]"), re.compile(f"[{KANA}]")


class ReadingTime:
    """Adds up what was read, sentence by sentence."""

    def __init__(self):
        self.words = 0
        """As `count_words` counts them: of Chinese and Japanese, letters."""
        self.chinese = self.japanese = 0
        """Letters among them; those of a sentence with kana in it are Japanese."""

    def add(self, text: str, words: int) -> None:
        """A sentence that has so many words."""
        self.words += words
        if text.isascii() or not (letters := len(_LETTER.findall(text))):
            return
        if _KANA.search(text):
            self.japanese += letters
        else:
            self.chinese += letters

    @property
    def minutes(self) -> float:
        """To read all of it once."""
        spaced = self.words - self.chinese - self.japanese
        return round(spaced / WORDS + self.chinese / CHINESE + self.japanese / JAPANESE, 2)
