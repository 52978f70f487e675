"""The part of a text that is still needed, gathered from its pieces."""

from __future__ import annotations

from collections.abc import Iterator


class Buffer:
    """Letters `[start, end)` of a text that arrives in pieces; positions are code points of the whole text."""

    def __init__(self, pieces: Iterator[str]):
        self._pieces = iter(pieces)
        self._piece, self._taken = "", 0  # the piece last arrived, and how much of it is in `_text`
        self._text, self.start = "", 0
        self._dry = False

    @property
    def end(self) -> int:
        """One past the last letter held."""
        return self.start + len(self._text)

    def window(self, start: int, width: int) -> str:
        """`width` letters from `start` on, fewer at the end of the text. Letters before `start` stay until `forget`."""
        if self.end < start + width:
            self._gather(start + width - self.end)
        return self._text[start - self.start : start - self.start + width]

    def ends_at(self, position: int) -> bool:
        """Whether the text has no letter at `position` or later."""
        while self._taken == len(self._piece) and not self._dry:
            self._advance()
        return self._dry and position >= self.end

    def forget(self, before: int) -> None:
        """Letters before that position will not be asked for again."""
        if before > self.start:
            self._text, self.start = self._text[before - self.start :], before

    def _gather(self, wanted: int) -> None:
        arrived = [self._text]
        while wanted > 0 and not self._dry:
            if self._taken == len(self._piece):
                self._advance()
                continue
            part = self._piece[self._taken : self._taken + wanted]
            arrived.append(part)
            self._taken += len(part)
            wanted -= len(part)
        self._text = "".join(arrived)

    def _advance(self) -> None:
        piece = next(self._pieces, None)
        self._dry = piece is None
        self._piece, self._taken = piece or "", 0
