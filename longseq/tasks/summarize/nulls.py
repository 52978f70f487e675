"""What a record costs a base without a trained model: by adaptive Markov models that know nothing but the record."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longseq.metrics.markov import AdaptiveMarkov

ORDERS = (2, 6)
"""Bases of context: the first soon knows what it needs, the second gains on records of a million bases."""
SLICE = 1 << 16
"""Bases at once."""

_CODES = bytearray(b"\x04" * 256)
for _letter, _code in zip(b"ACGTUacgtu", (0, 1, 2, 3, 3) * 2, strict=True):
    _CODES[_letter] = _code


class Nulls:
    """Fed with a record's letters in pieces of any size, forwards, which do not matter."""

    def __init__(self) -> None:
        self._now = np.zeros(0, np.uint8)
        self._bits = [AdaptiveMarkov(order).bits(self._pieces()) for order in ORDERS]
        self._sums, self._bases = [0.0] * len(ORDERS), 0
        self._held, self._size = [b""], 0

    def push(self, letters: bytes) -> None:
        self._held.append(letters)
        self._size += len(letters)
        if self._size >= SLICE:
            whole, at = b"".join(self._held), 0
            while self._size - at >= SLICE:
                self._score(whole[at : at + SLICE])
                at += SLICE
            self._held, self._size = [whole[at:]], self._size - at

    def finish(self) -> dict[str, float]:
        """Mean bits a base by `order2`, `order6`; nothing of a record without a base."""
        self._score(b"".join(self._held))
        self._held, self._size = [b""], 0
        if not self._bases:
            return {}
        return {f"order{order}": total / self._bases for order, total in zip(ORDERS, self._sums, strict=True)}

    def _score(self, letters: bytes) -> None:
        codes = np.frombuffer(letters.translate(_CODES), np.uint8)
        self._bases, self._now = self._bases + int(np.count_nonzero(codes < 4)), codes
        for i, bits in enumerate(self._bits):
            self._sums[i] += float(np.nansum(next(bits), dtype=np.float64))

    def _pieces(self) -> Iterator[np.ndarray]:
        """Each model asks for its next piece when its bits are wanted, and not before."""
        while True:
            yield self._now
