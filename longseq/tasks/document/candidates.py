"""The sentences of a document, and which of them a summary may quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from longseq.records import Layout
from longseq.tasks.document.sections import Role, role_of
from longseq.tasks.document.structure import Part, blocks
from longseq.tokens.sentences import Sentence, Splitter

SHORTEST = 8
"""Words; a shorter sentence is a scrap, as is one without a stop: a caption, the line that leads into a list."""
THIN = 0.1
"""Where prose holds a smaller share of the words of prose, lists, quotations and scraps, these may be quoted too."""

SENTENCES, ASIDES, REST, BACK = 0, 1, 2, 3
"""Tiers: sentences of prose; list items, quotations and scraps; headings, code and tables; back matter and licences."""

_CLOSED = re.compile(r"[.!?…。！？．؟۔।॥།။።។][\"'”’»›」』)）\]*_]*(?:\s*\[\w+\])*$")  # then perhaps a note's number
_BOILERPLATE = re.compile(
    r"\ball rights reserved\b|\bno part of this (?:publication|book|work) may be\b|\bproject gutenberg|"
    r"\bunder the terms of (?:the|a) (?:creative commons|gnu)\b|"
    r"\blicen[sc]ed under (?:the|a) (?:creative commons|cc[ -]by)|"
    r"\bcopyright (?:©|\(c\)|\d{4})|©\s*(?:copyright\s*)?\d{4}|\bISBN[ :-]|\bthis e-?book is for the use of anyone\b|"
    r"\bdownloaded from https?:|版权所有|版權所有|未经(?:书面)?许可|著作权所有",
    re.I,
)
_BEGINS = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.I)
_ENDS = re.compile(r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG", re.I)


class Found(NamedTuple):
    """A sentence and where it was found."""

    sentence: Sentence
    part: Part
    section: str
    paragraph: int = 0
    """Number of its paragraph in the document."""


def find_sentences(pieces: Iterable[str], language: str = "en", layout: Layout | None = None) -> Iterator[Found]:
    """Every sentence of the text whose pieces these are, in order, none across two of its parts or paragraphs.

    `layout` is what the text's format says of it; it may fill while the pieces are walked.
    """
    splitter = Splitter(language)
    part: Part = "blank"
    section, number = "", 0
    for block in blocks(pieces, layout):
        if not block.continues:
            for sentence in splitter.end_paragraph():
                yield Found(sentence, part, section, number)
            part, section, number = block.part, block.section, number + (block.part != "blank")
        if part == "blank":
            splitter.skip(len(block.text))
            continue
        splitter.skip(block.mark)
        for sentence in splitter.feed(block.text[block.mark :]):
            yield Found(sentence, part, section, number)
    for sentence in splitter.end_paragraph():
        yield Found(sentence, part, section, number)


class Tiers:
    """How far from quotable the sentences of a document are, one after the other."""

    def __init__(self):
        self.listed = 0
        """Items and quotations among the asides."""
        self.begun = 0
        """Sentences before the line that says that the text begins there."""
        self._seen, self._over = 0, False
        self._roles: dict[str, Role] = {}

    def role(self, section: str) -> Role:
        """What a section is for."""
        if section not in self._roles:
            self._roles[section] = role_of(section)
        return self._roles[section]

    def tier(self, found: Found, words: int) -> int:
        """Of the next sentence, which has so many words."""
        text = " ".join(found.sentence.text.split())
        self._seen += 1
        if "*" in text and _BEGINS.search(text):
            self.begun = self._seen
        self._over |= "*" in text and _ENDS.search(text) is not None
        back = self._over or self.role(found.section) is Role.BACK or _BOILERPLATE.search(text)
        tier = BACK if back else _tier(found, words)
        self.listed += tier == ASIDES and found.part != "prose"
        return tier


def strictest(tiers: np.ndarray, words: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """(lowest tier let in, (rows,) bool rows let in), strictest first: the first that yields anything is meant.

    Args:
        tiers: (rows,) of the sentences.
        words: (rows,) of each of them.
    """
    prose, asides = (int(words[tiers == tier].sum()) for tier in (SENTENCES, ASIDES))
    for let_in in (SENTENCES, ASIDES, REST, BACK):
        if let_in != SENTENCES or prose >= THIN * (prose + asides):
            yield let_in, tiers <= let_in


def _tier(found: Found, words: int) -> int:
    if found.part in ("item", "quote"):
        return ASIDES
    if found.part not in ("prose", "numbered"):
        return REST
    text = found.sentence.text
    whole = words >= SHORTEST and _CLOSED.search(text) and not (found.part == "numbered" and text[0].islower())
    return SENTENCES if whole else ASIDES
