"""Sentences of a text in a stream: exact offsets, linear time, memory of one window. The only door to `sentencex`.

The text is cut at blank lines, where a sentence always ends, and each paragraph goes to sentencex by itself: given a
long text it drops characters at seams of its own, about every 10,000 characters. A paragraph longer than a window is
read window by window; the sentences that end well before the window's end are kept and reading resumes after the last
of them, so that no seam falls into a sentence. Windows are anchored at the text alone: the pieces' cuts change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sentencex import get_sentence_boundaries

WINDOW = 4096
"""Code points handed to sentencex at once; it is quadratic in unclosed quotation marks, so not many.

A sentence end in the last quarter of a window may look different with the text after it in sight: it is left for the
next window.
"""
LIMIT = 1000
"""A sentence longer than this many code points is wrapped."""
UNCLOSED = 64
"""More quotation marks than this that nothing closes are noise, read as blanks: sentencex looks for the end of each."""
QUOTED = 400
"""A sentence longer than this is split once more as if it had no quotation marks: sentencex keeps a speech whole."""
PIECE = 300
"""Code points of a wrapped sentence's pieces, at most."""

_BREAK = re.compile(r"\n[^\S\n]*\n|\u2029|\r[^\S\r\n]*\r(?=[^\n])")
_CLAUSES = (
    re.compile(r".*[\n\r\u2028\u2029]", re.S),
    re.compile(r".*(?:[;:,—–](?=\s)|[；：，、،؛])", re.S),
    re.compile(r".*\s", re.S),
)
_QUOTES = dict.fromkeys(map(ord, "\"'“”„‟‘’‚‛«»‹›「」『』《》〈〉()[]{}（）［］【】〔〕"), " ")
_OPENING = re.compile(r"(?:(?<=\s)[\"'“„‟‘‚‛«‹「『《〈(\[{（［【〔]+|[“„‟‘‚‛«‹「『《〈(\[{（［【〔]+)\Z")
_SPOKEN = re.compile(r"[\"'”’»›]\s+\Z")
_BRACKETED = re.compile(r"\([^()]*[.!?]\)(?=\s+[^\sa-z])|（[^（）]*[。！？]）")
_PAIRS = ("“”", "‘’", "„“", "«»", "»«", "‹›", "「」", "《》")
_SURROGATE = re.compile("[\ud800-\udfff]")


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
            for start, stop, wrapped in _split(text[at:end], certain, self._language):
                yield Sentence(self._start + at + start, self._start + at + stop, text[at + start : at + stop], wrapped)
                last_stop = stop
            at = end if found or whole else at + last_stop
        self._buffer, self._start = text[at:], self._start + at


def sentences(pieces: Iterable[str], language: str = "en") -> Iterator[Sentence]:
    """Sentence spans of the text whose pieces these are, in order.

    `language` is an ISO 639-1 code: it says after which abbreviations a stop ends nothing. For any text the spans and
    the gaps between them concatenate to it, and every gap is white space.
    """
    splitter = Splitter(language)
    for piece in pieces:
        yield from splitter.feed(piece)
    yield from splitter.end_paragraph()


def _split(text: str, certain: int, language: str) -> list[tuple[int, int, bool]]:
    """(start, end, wrapped) of the sentences of a paragraph's window that end within its first `certain` code points.

    At least one is returned: where no sentence ends so early, what is certain is wrapped, but for its last piece.
    """
    ends = _ends(text, language)
    if ends[0] > certain:
        ends = _ends_in_quotes(text, language)
    if ends[0] > certain:
        return [span for a, b in list(_wrap(text, 0, certain))[:-1] for span in _trim(text, a, b, True)]
    spans: list[tuple[int, int, bool]] = []
    start = 0
    for end in ends:
        if end > certain:
            break
        if end - start > QUOTED:
            spans += _split_long(text[start:end], start, language)
        else:
            spans += _trim(text, start, end, False)
        start = end
    return spans


def _split_long(text: str, offset: int, language: str) -> list[tuple[int, int, bool]]:
    """A long sentence as the sentences inside its quotations; what is over the limit even so, wrapped."""
    spans: list[tuple[int, int, bool]] = []
    start = 0
    for end in _ends_in_quotes(text, language):
        long = end - start > LIMIT
        for a, b in _wrap(text, start, end) if long else [(start, end)]:
            spans += [(x + offset, y + offset, flag) for x, y, flag in _trim(text, a, b, long)]
        start = end
    return spans


def _ends_in_quotes(text: str, language: str) -> list[int]:
    """As `_ends`, with quotation marks and brackets read as blanks; a mark that opens goes to the sentence after it."""
    ends = [0]
    for end in _ends(text.translate(_QUOTES), language):
        if text[end : end + 1].islower() and _SPOKEN.search(text, max(ends[-1] + 1, end - 16), end):
            continue  # “Why?” he asked
        opened = _OPENING.search(text, max(ends[-1] + 1, end - 16), end) if end < len(text) else None
        ends.append(opened.start() if opened else end)
    return ends[1:]


def _wrap(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut `[start, end)` after the last line end, clause or blank of every `PIECE` code points."""
    while end - start > PIECE:
        half, cut = start + PIECE // 2, start + PIECE
        for clause in _CLAUSES:
            if found := clause.match(text, half, cut):
                cut = found.end()
                break
        yield start, cut
        start = cut
    yield start, end


def _trim(text: str, start: int, end: int, wrapped: bool) -> list[tuple[int, int, bool]]:
    """The span without white space around it, none if it is blank; bracketed sentences at its front stand apart."""
    spans = []
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end:
        if text[start].isspace():
            start += 1
            continue
        aside = _BRACKETED.match(text, start, end)
        stop = aside.end() if aside else end
        spans.append((start, stop, wrapped))
        start = stop
    return spans


def _ends(text: str, language: str) -> list[int]:
    """Increasing offsets at which sentencex ends a sentence; the last is the text's end. `text` is not empty."""
    if any(text.count(pair[0]) - text.count(pair[1]) > UNCLOSED for pair in _PAIRS):
        text = text.translate(_QUOTES)
    try:
        found = get_sentence_boundaries(language, text)
    except UnicodeEncodeError:  # a lone surrogate cannot cross into UTF-8; any letter of the same length will do
        found = get_sentence_boundaries(language, _SURROGATE.sub("\ufffd", text))
    return [*(end for end in (b["end_index"] for b in found) if 0 < end < len(text)), len(text)]
