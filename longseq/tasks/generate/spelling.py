"""Tokens as letters, as soon as letters are whole: a byte-level token may hold half of one."""

from __future__ import annotations

from typing import Any

import numpy as np

HALF = "\ufffd"
"""What a decoder writes for bytes that are no letter."""
LONGEST = 8
"""Tokens that may spell one letter together; more are no letter."""


class Spelling:
    """Ids in, letters out. A decoder may look at the token before, so the last ones written are kept beside the new."""

    def __init__(self, tokenizer: Any, pending: tuple[list[int], int] = ([], 0)):
        """`pending` is what `pending` gave where another spelling stopped."""
        self._tokenizer = tokenizer
        self._ids, self._written = list(pending[0]), pending[1]

    def push(self, token: int) -> str:
        """The letters that are whole now."""
        self._ids.append(token)
        text = self._text(self._ids)
        if text.endswith(HALF) and len(self._ids) - self._written < LONGEST:
            return ""
        return self._write(text)

    def rest(self) -> str:
        """What is left, whole or not."""
        return self._write(self._text(self._ids))

    @property
    def pending(self) -> tuple[list[int], int]:
        """Ids kept, and how many of them are written."""
        return list(self._ids), self._written

    def _write(self, text: str) -> str:
        new = text[len(self._text(self._ids[: self._written])) :]
        self._ids, self._written = self._ids[self._written :], len(self._ids) - self._written
        return new

    def _text(self, ids: list[int]) -> str:
        found = self._tokenizer.decode(np.array(ids, np.int64)) if ids else ""
        return found.decode() if isinstance(found, bytes) else found
