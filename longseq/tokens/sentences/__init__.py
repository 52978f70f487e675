"""Sentences of a text in a stream: exact offsets, linear time, memory of one window.

The text is cut at blank lines and before lines that an ideographic space indents (a Chinese or Japanese paragraph),
where a sentence always ends, and each paragraph goes to sentencex by itself: given a
long text it drops characters at seams of its own, about every 10,000 characters. A paragraph longer than a window is
read window by window; the sentences that end well before the window's end are kept and reading resumes after the last
of them, so that no seam falls into a sentence. Windows are anchored at the text alone: the pieces' cuts change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from longseq.tokens.sentences.language import language_of
from longseq.tokens.sentences.long import LIMIT, PIECE, QUOTED, spans

__all__ = ["LIMIT", "PIECE", "QUOTED", "WINDOW", "Sentence", "Splitter", "sentences"]

WINDOW = 4096
"""Code points handed to sentencex at once; it is quadratic in unclosed quotation marks, so not many.

A sentence end in the last quarter of a window may look different with the text after it in sight: it is left for the
next window.
"""

_BREAK = re.compile(r"\n[^\S\n]*\n|\n\u3000|\u2029|\r[^\S\r\n]*\r(?=[^\n])")


class Sentence(NamedTuple):
    """`[start, end)` of a sentence without the white space around it."""

    start: int
    """First code point, 0-based."""
    end: int
    """One past the last code point."""
    text: str
    """The letters of the span, as they are."""
    wrapped: bool
    """Whether an end of it is no sentence end: it is a piece of something longer than `LIMIT`."""


class Splitter:
    """Finds sentences in a text that is fed piece by piece. What lies between two spans is white space.

    `window` is in code points, at least `2 * PIECE`.
    """

    def __init__(self, language: str = "en", window: int = WINDOW):
        self._language, self._window = language, window
        self._buffer, self._start = "", 0  # text not yet split, and its offset

    def feed(self, text: str) -> Iterator[Sentence]:
        """Take the next piece; yield the sentences that are certain now."""
        step = 16 * self._window  # however long the piece, the buffer stays short
        for i in range(0, len(text), step):
            self._buffer += text[i : i + step]
            if len(self._buffer) > self._window:
                yield from self._drain(last=False)

    def end_paragraph(self) -> Iterator[Sentence]:
        """A sentence ends here at the latest: the text's end, or a place that only the caller knows."""
        yield from self._drain(last=True)

    def skip(self, length: int) -> None:
        """Pass over code points that hold no sentences; between paragraphs only."""
        self._start += length

    def _drain(self, last: bool) -> Iterator[Sentence]:
        text, at = self._buffer, 0
        while True:
            while at < len(text) and text[at].isspace():
                at += 1
            whole = len(text) - at <= self._window
            if at == len(text) or (whole and not last):
                break
            found = _BREAK.search(text, at, at + self._window)
            end = found.start() if found else min(at + self._window, len(text))
            certain = end - at if found or whole else self._window - self._window // 4
            passage = text[at:end]
            for start, stop, wrapped in spans(passage, certain, language_of(passage, self._language)):
                yield Sentence(self._start + at + start, self._start + at + stop, text[at + start : at + stop], wrapped)
                last_stop = stop
            at = end if found or whole else at + last_stop
        self._buffer, self._start = text[at:], self._start + at


def sentences(pieces: Iterable[str], language: str = "en") -> Iterator[Sentence]:
    """Sentence spans of the text whose pieces these are, in order.

    `language` is an ISO 639-1 code: that of passages in Latin letters in which no other is recognised; it says after
    which abbreviations a stop ends nothing. For any text the spans and the gaps between them concatenate to it, and
    every gap is white space.
    """
    splitter = Splitter(language)
    for piece in pieces:
        yield from splitter.feed(piece)
    yield from splitter.end_paragraph()
