"""What is too long for a sentence: split inside its quotations, then wrapped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longseq.tokens.sentences.ends import ends, ends_in_quotes

LIMIT = 1000
"""A sentence longer than this many code points is wrapped."""
QUOTED = 400
"""A sentence longer than this is split once more as if it had no quotation marks: sentencex keeps a speech whole."""
PIECE = 300
"""Code points of a wrapped sentence's pieces, at most."""

_CLAUSES = (
    re.compile(r".*[\n\r\u2028\u2029]", re.S),
    re.compile(r".*(?:[;:,—–](?=\s)|[；：，、،؛])", re.S),
    re.compile(r".*\s", re.S),
)
_BRACKETED = re.compile(r"\([^()]*[.!?]\)(?=\s+[^\sa-z])|（[^（）]*[。！？]）")


def spans(text: str, certain: int, language: str) -> list[tuple[int, int, bool]]:
    """(start, end, wrapped) of the sentences of a paragraph's window that end within its first `certain` code points.

    At least one is returned: where no sentence ends so early, what is certain is wrapped, but for its last piece.
    """
    at = ends(text, language)
    if at[0] > certain:
        at = ends_in_quotes(text, language)
    if at[0] > certain:
        return [span for a, b in list(_wrap(text, 0, certain))[:-1] for span in _trim(text, a, b, True)]
    found: list[tuple[int, int, bool]] = []
    start = 0
    for end in at:
        if end > certain:
            break
        if end - start > QUOTED:
            found += _split(text[start:end], start, language)
        else:
            found += _trim(text, start, end, False)
        start = end
    return found


def _split(text: str, offset: int, language: str) -> list[tuple[int, int, bool]]:
    """A long sentence as the sentences inside its quotations; what is over the limit even so, wrapped."""
    found: list[tuple[int, int, bool]] = []
    start = 0
    for end in ends_in_quotes(text, language):
        long = end - start > LIMIT
        for a, b in _wrap(text, start, end) if long else [(start, end)]:
            found += [(x + offset, y + offset, flag) for x, y, flag in _trim(text, a, b, long)]
        start = end
    return found


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
    found = []
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end:
        if text[start].isspace():
            start += 1
            continue
        aside = _BRACKETED.match(text, start, end)
        stop = aside.end() if aside else end
        found.append((start, stop, wrapped))
        start = stop
    return found
