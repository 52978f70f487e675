"""Where a window starts, and how its first new token is found."""

from __future__ import annotations

from dataclasses import dataclass

from longseq.tokens.stream.engine import Encoding, Engine, span


@dataclass(frozen=True)
class Resume:
    """Nothing is known of the tokens before: the first that starts at `at` or later is new."""

    start: int
    """First letter of the window."""
    at: int
    """Letters before are in tokens already given out."""

    def first(self, engine: Engine, text: str, encoding: Encoding) -> int | None:
        """Index of the first new token of the window; None where it should be proven and is not."""
        return self.likely(encoding)

    def likely(self, encoding: Encoding) -> int:
        """The same by offsets alone."""
        offsets = encoding.offsets
        return next((i for i, (start, _) in enumerate(offsets) if self.start + start >= self.at), len(offsets))


@dataclass(frozen=True)
class AtCut(Resume):
    """`at` is a cut (`Seams.cut`): the window's tokens are those of the letters before it and those after it."""

    context: list[int]
    """Ids of the letters `[start, at)`."""

    def first(self, engine: Engine, text: str, encoding: Encoding) -> int | None:
        known = len(self.context)
        return known if encoding.ids[:known] == self.context else None


@dataclass(frozen=True)
class AtToken(Resume):
    """The window starts inside a pre-token of byte-pair encoding and holds a token that the window before held too.

    Theorem: if byte-pair encoding gives X the tokens `.. a` and Y the tokens `b ..`, it gives XY both in a row if and
    only if it gives the letters of a and b the two tokens a, b. For it always merges the leftmost pair of the lowest
    rank, so merges on both sides of a border that none crosses go on as if the sides were alone; the first to cross
    would lie in a and b, and would cross when these two are encoded alone. So neighbours in any right encoding are
    neighbours wherever their letters meet, and two encodings that share a token can be joined at it.
    """

    ids: list[int]
    """Of the token; of several where they spell one letter together, so that offsets alone do not tell them apart."""
    token_start: int
    """Its first letter; it ends at `at`."""
    lead: str
    """The `pattern.LIMIT` letters before the window, from the same pre-token."""

    def first(self, engine: Engine, text: str, encoding: Encoding) -> int | None:
        place = self._place(encoding)
        return None if place is None or not self._goes_on(engine, text, encoding, place) else place + len(self.ids)

    def holds(self, encoding: Encoding) -> bool:
        """Whether the token stands in the window's encoding, and not as its first."""
        return self._place(encoding) is not None

    def _place(self, encoding: Encoding) -> int | None:
        left, right = self.token_start - self.start, self.at - self.start
        first = encoding.char_to_token(left)
        if not first:
            return None
        tokens = together(encoding, first)
        same = encoding.ids[tokens.start : tokens.stop] == self.ids and letters(encoding, tokens) == (left, right)
        return first if same and tokens.start == first else None

    def _goes_on(self, engine: Engine, text: str, encoding: Encoding, place: int) -> bool:
        """Whether the window's first pre-token is the rest of the one that it starts in."""
        words = encoding.word_ids
        if words[place] != words[0]:
            return False
        after = next((i for i in range(place, len(words)) if words[i] != words[0]), len(words))
        _, end = span(encoding, after - 1)
        if not engine.seams.uniform(self.lead + text[:end]):
            return False
        return end == len(text) or engine.seams.cut(text, end)


def together(encoding: Encoding, i: int) -> range:
    """Token i and the neighbours that share letters with it: byte-level tokens of one letter."""
    first, last = i, i
    while first > 0 and span(encoding, first - 1)[1] > span(encoding, first)[0]:
        first -= 1
    while last + 1 < len(encoding) and span(encoding, last)[1] > span(encoding, last + 1)[0]:
        last += 1
    return range(first, last + 1)


def letters(encoding: Encoding, tokens: range) -> tuple[int, int]:
    """`[start, end)` of consecutive tokens in the window."""
    return span(encoding, tokens.start)[0], span(encoding, tokens.stop - 1)[1]
