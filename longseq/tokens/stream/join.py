"""Two overlapping windows of byte-pair encoding, joined at a token that both hold."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.tokens.stream.buffer import Buffer
from longseq.tokens.stream.engine import Encoding, Engine, span
from longseq.tokens.stream.pattern import LIMIT
from longseq.tokens.stream.resume import AtToken, letters, together
from longseq.tokens.stream.seams import Seams


def join(
    engine: Engine, buffer: Buffer, start: int, text: str, encoding: Encoding, first: int, width: int, overlap: int
) -> tuple[int, AtToken, str, Encoding] | None:
    """(one past the last token to give out, the next window, its text, its encoding), or None: no join is proven.

    The window at hand, `text` from `start` on with new tokens from `first` on, must end inside a pre-token. The next
    one, `width` letters, starts at the last token that leaves `overlap` letters, so that repeats keep their rhythm.
    Where a letter put before the text breaks the rhythm, it starts earlier by as much as its first token holds.
    """
    shift = _next_start(encoding, first, len(text), overlap)
    for _ in range(2):
        if shift is None or not _inside(encoding, shift):
            return None
        following = buffer.window(start + shift, width)
        next_encoding = engine.encode(following)
        for tokens in _candidates(engine.seams, text, encoding, first, shift):
            left, right = letters(encoding, tokens)
            ids, lead = encoding.ids[tokens.start : tokens.stop], text[shift - LIMIT : shift]
            resume = AtToken(start + shift, start + right, ids, start + left, lead)
            if resume.holds(next_encoding):
                proven = resume.first(engine, following, next_encoding) is not None
                return (tokens.stop, resume, following, next_encoding) if proven else None
        shift -= span(next_encoding, 0)[1] if len(next_encoding) else 0
    return None


def _next_start(encoding: Encoding, first: int, length: int, overlap: int) -> int | None:
    """The start of the last token, in the pre-token at the window's end, that leaves `overlap` letters."""
    last = len(encoding) - 1
    if last <= first or span(encoding, last)[1] != length:
        return None
    place = encoding.char_to_token(length - overlap)
    while place is not None and place > first and encoding.token_to_word(place) == encoding.token_to_word(last):
        start = span(encoding, place)[0]
        if start <= length - overlap and together(encoding, place).start == place:
            return start
        place -= 1
    return None


def _inside(encoding: Encoding, shift: int) -> bool:
    """Whether the `LIMIT` letters before `shift` lie in the pre-token at the window's end."""
    lead = encoding.char_to_token(shift - LIMIT) if shift >= LIMIT else None
    return lead is not None and encoding.token_to_word(lead) == encoding.token_to_word(len(encoding) - 1)


def _candidates(seams: Seams, text: str, encoding: Encoding, first: int, shift: int) -> Iterator[range]:
    """Tokens after `shift` whose letters both windows read alike, the last ones first."""
    low = next((at for at in range(shift + 1, len(text)) if seams.apart(text, at)), len(text))
    high = next((at for at in range(len(text) - 1, shift, -1) if seams.apart(text, at)), 0)
    word = encoding.token_to_word(len(encoding) - 1)
    i = len(encoding) - 1
    while i >= first and encoding.token_to_word(i) == word:
        tokens = together(encoding, i)
        left, right = letters(encoding, tokens)
        if left < low or tokens.start < first or encoding.token_to_word(tokens.start) != word:
            return
        if right <= high:
            yield tokens
        i = tokens.start - 1
