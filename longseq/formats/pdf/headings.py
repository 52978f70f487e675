"""Headings of a PDF that has no outline: short paragraphs in larger letters than the text's."""

from __future__ import annotations

import re
from collections import Counter

from longseq.formats.pdf.order import Line
from longseq.formats.pdf.paragraphs import Paragraph

LARGER = 1.15
"""Height of a heading's letters, by that of the text's, at least."""
SAME = 1.03
"""Sizes that differ by less than this factor are one."""
LONGEST = 200
"""Code points of a heading."""
_LETTERS = re.compile(r"[^\W\d_]")
_CONTINUES = re.compile(r"[.,:;。，、：；][\"'”’)\]]*$")
_CJK = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")


class Headings:
    """The size of the document's text, as far as it was seen, and the headings over the paragraph at hand."""

    def __init__(self):
        self._letters: Counter[float] = Counter()  # by height, in tenths of a point
        self._above: list[float] = []  # heights of the headings that the text stands under

    def see(self, lines: list[Line]) -> None:
        """Count the letters of a page; pages come here some time before their paragraphs are asked for."""
        for line in lines:
            self._letters[round(line.height, 1)] += len(line.text)

    def depth(self, paragraph: Paragraph) -> int:
        """How deep a heading it is, 1 the outermost: under those of larger letters before it; 0 if it is none."""
        height, text = paragraph.height, paragraph.text
        if paragraph.part or len(text) > LONGEST or not self._letters:
            return 0
        usual = max(self._letters, key=lambda size: (self._letters[size], -size))
        letters = len(_LETTERS.findall(text))
        if height < LARGER * usual or letters < (2 if _CJK.search(text) else 3) or _CONTINUES.search(text):
            return 0
        while self._above and self._above[-1] < height * SAME:
            self._above.pop()
        self._above.append(height)
        return len(self._above)
