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
    """
    shift = _next_start(encoding, first, len(text), overlap)
    if shift is None:
        return None
    following = buffer.window(start + shift, width)
    next_encoding = engine.encode(following)
    lead = text[max(shift - LIMIT, 0) : shift]
    for tokens in _candidates(engine.seams, text, encoding, first, shift):
        left, right = letters(encoding, tokens)
        ids = encoding.ids[tokens.start : tokens.stop]
        resume = AtToken(start + shift, start + right, ids, start + left, lead)
        if resume.holds(next_encoding):
            proven = resume.first(engine, following, next_encoding) is not None
            return (tokens.stop, resume, following, next_encoding) if proven else None
    return None


def _next_start(encoding: Encoding, first: int, length: int, overlap: int) -> int | None:
    """Where in this window the next one starts."""
    last = len(encoding) - 1
    if last <= first or span(encoding, last)[1] != length:
        return None
    word = encoding.token_to_word(last)
    place = encoding.char_to_token(length - overlap)
    while place is not None and place > first and encoding.token_to_word(place) == word:
        start = span(encoding, place)[0]
        if start <= length - overlap and together(encoding, place).start == place:
            led = encoding.char_to_token(max(start - LIMIT, 0))
            inside = led is not None and encoding.token_to_word(led) == word and start >= LIMIT
            return start if inside else None
        place -= 1
    return None


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
