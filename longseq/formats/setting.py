"""Blocks of marked-up text set one under another: the text of a document, and its layout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from longseq.records import Layout, Mark

_BLANKS = re.compile(r"[ \t\n\r\f]+")


class Part(NamedTuple):
    """A block on its way into the text."""

    part: str
    """As in `records.Mark`."""
    text: str
    depth: int = 0
    """Of the section that begins with it."""
    title: str | None = None
    """Of that section; None: the text."""


class Setter:
    """Sets blocks: a paragraph or a row of a table is a line, code keeps its own; a blank line stands between."""

    def __init__(self, layout: Layout):
        self._layout, self._length, self._last = layout, 0, ""

    def all(self, blocks: Iterable[Part]) -> Iterator[str]:
        """Texts of those blocks that have one."""
        return filter(None, map(self.set, blocks))

    def set(self, block: Part) -> str:
        """The block's text as it stands in the document, its mark being in the layout; empty where it has none."""
        text = block.text.strip("\n") if block.part == "code" else squeezed(block.text)
        title = squeezed(text if block.title is None else block.title)
        if block.depth and title and not text:
            self._layout.marks.append(Mark(self._length, "prose", block.depth, title))
            self._last = "prose"
        if not text.strip():
            return ""
        if block.depth or block.part != self._last or block.part == "heading":
            depth = block.depth if title else 0
            self._layout.marks.append(Mark(self._length, block.part, depth, title if depth else ""))
        self._last = block.part
        self._length += len(text) + 2
        return text + "\n\n"


def squeezed(text: str) -> str:
    """Blanks and line ends as one blank; those of no width, and hyphens that do not show, left out."""
    return _BLANKS.sub(" ", text.replace("\xad", "").replace("\u200b", "").replace("\ufeff", "")).strip(" ")
