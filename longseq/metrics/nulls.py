"""What a record costs without a trained model: by adaptive Markov models that begin anew with every record."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longseq.metrics.markov import AdaptiveMarkov

ORDERS = (2, 6)
"""Bases of context: of the first a record of thousands knows what it needs, the second wants millions."""
COLUMNS = tuple(f"order{order}" for order in ORDERS)
SLICE = 1 << 16
"""Tokens at once, from the record's start, so that sums do not depend on how tokens come."""

_IDS = bytearray(b"\x04" * 256)
for _letter, _id in zip(b"ACGTUacgtu", (0, 1, 2, 3, 3) * 2, strict=True):
    _IDS[_letter] = _id


class Nulls:
    """Bits of one strand, whose tokens come in pieces of any size, which do not matter."""

    def __init__(self) -> None:
        self._now = np.zeros(0, np.uint8)
        self._bits = [AdaptiveMarkov(order).bits(self._slices()) for order in ORDERS]
        self._sums, self._tokens = [0.0] * len(ORDERS), 0
        self._held: list[np.ndarray] = []
        self._size = 0

    def push(self, ids: np.ndarray) -> None:
        """ids (T,) uint8, of which 0-3 are A, C, G, T and others are not scored."""
        self._held.append(ids)
        self._size += len(ids)
        if self._size >= SLICE:
            whole, at = np.concatenate(self._held), 0
            while self._size - at >= SLICE:
                self._score(whole[at : at + SLICE])
                at += SLICE
            self._held, self._size = [whole[at:]], self._size - at

    def push_letters(self, letters: bytes) -> None:
        """The same of letters as they stand in a file, in any case, U as T."""
        self.push(np.frombuffer(letters.translate(_IDS), np.uint8))

    def finish(self) -> dict[str, float]:
        """Bits a token by `COLUMNS`; nothing of a strand without a token."""
        if self._size:
            self._score(np.concatenate(self._held))
            self._held, self._size = [], 0
        if not self._tokens:
            return {}
        return {name: bits / self._tokens for name, bits in zip(COLUMNS, self._sums, strict=True)}

    def _score(self, ids: np.ndarray) -> None:
        self._now, self._tokens = ids, self._tokens + int(np.count_nonzero(ids < 4))
        for i, bits in enumerate(self._bits):
            self._sums[i] += float(np.nansum(next(bits), dtype=np.float64))

    def _slices(self) -> Iterator[np.ndarray]:
        """To a model that asks for its next slice when its bits are wanted, and not before."""
        while True:
            yield self._now
