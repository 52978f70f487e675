"""The sentences of a document, and which of them a summary may quote."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from longseq.records import Layout
from longseq.tasks.document.structure import Part, blocks
from longseq.tokens.sentences import Sentence, Splitter

SHORTEST = 8
"""Words; a shorter sentence is a scrap, as is one without a stop: a caption, the line that leads into a list."""
THIN = 0.1
"""Where prose holds a smaller share of the words of prose, lists, quotations and scraps, these may be quoted too."""

SENTENCES, ASIDES, REST = 0, 1, 2
"""Tiers: sentences of prose; list items, quotations and scraps; headings, code and tables."""

_CLOSED = re.compile(r"[.!?…。！？．؟۔।॥։።။།។][\"'”’»›」』)）\]*_]*(?:\s*\[\w+\])*$")  # then perhaps a note's number


class Found(NamedTuple):
    """A sentence and where it was found."""

    sentence: Sentence
    part: Part
    section: str


def find_sentences(pieces: Iterable[str], language: str = "en", layout: Layout | None = None) -> Iterator[Found]:
    """Every sentence of the text whose pieces these are, in order, none across two of its parts or paragraphs.

    `layout` is what the text's format says of it; it may fill while the pieces are walked.
    """
    splitter = Splitter(language)
    part: Part = "blank"
    section = ""
    for block in blocks(pieces, layout):
        if not block.continues:
            for sentence in splitter.end_paragraph():
                yield Found(sentence, part, section)
            part, section = block.part, block.section
        if part == "blank":
            splitter.skip(len(block.text))
            continue
        splitter.skip(block.mark)
        for sentence in splitter.feed(block.text[block.mark :]):
            yield Found(sentence, part, section)
    for sentence in splitter.end_paragraph():
        yield Found(sentence, part, section)


class Candidates:
    """A row a sentence, in compact columns: 26 bytes each."""

    def __init__(self):
        self.start, self.end = array("q"), array("q")  # code points
        self.words, self.section = array("i"), array("i")
        self.tier, self.wrapped = array("b"), array("b")
        self.sections: list[str] = []
        self.listed = 0  # items and quotations among the asides

    def __len__(self) -> int:
        return len(self.start)

    def add(self, found: Found, words: int) -> None:
        """Append a sentence of so many words."""
        if not self.sections or self.sections[-1] != found.section:
            self.sections.append(found.section)
        tier = _tier(found, words)
        self.start.append(found.sentence.start)
        self.end.append(found.sentence.end)
        self.words.append(words)
        self.section.append(len(self.sections) - 1)
        self.tier.append(tier)
        self.wrapped.append(found.sentence.wrapped)
        self.listed += tier == ASIDES and found.part != "prose"

    def tiers(self) -> Iterator[tuple[int, np.ndarray]]:
        """(lowest tier let in, (rows,) bool rows let in), strictest first: the first that yields anything is meant."""
        tier, words = np.array(self.tier, np.int8), np.array(self.words, np.int64)
        prose, asides = int(words[tier == SENTENCES].sum()), int(words[tier == ASIDES].sum())
        for let_in in (SENTENCES, ASIDES, REST):
            if let_in != SENTENCES or prose >= THIN * (prose + asides):
                yield let_in, tier <= let_in


def _tier(found: Found, words: int) -> int:
    if found.part in ("item", "quote"):
        return ASIDES
    if found.part not in ("prose", "numbered"):
        return REST
    text = found.sentence.text
    whole = words >= SHORTEST and _CLOSED.search(text) and not (found.part == "numbered" and text[0].islower())
    return SENTENCES if whole else ASIDES
