"""The two ends of a record: whether its beginning stands at its end again.

Assemblers leave such a repeat where they cut a circle open, and some linear genomes (T4, T7) are terminally redundant:
a repeat is told as found, and topology is not guessed from it.
"""

from __future__ import annotations

import numpy as np

from longseq.results.findings import TerminalRepeat

KEPT = 1 << 16
"""Letters of each end that are looked at."""
SHORTEST = 20
"""Bases of a repeat; by chance one in 10^12 records has one as long."""
LONG_ENOUGH = 100
"""Bases from which a repeat need not be exact."""
NEAR = 0.95
"""Share of its bases that are equal then."""
SEED, SEEDS = 16, 8
"""Letters of a word of the beginning that is looked for at the end, and how many are tried."""
TRIES = 64
"""Places of the beginning that are compared, at most."""
PERIOD, ALIKE = 60, 0.7
"""A repeat that is itself this much alike when moved by up to so many bases is a simple one: it stands anywhere."""


class EndsKeeper:
    """Keeps the first and the last letters of a record; fed in pieces of any size."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()

    def push(self, letters: bytes) -> None:
        if len(self._head) < KEPT:
            self._head += letters[: KEPT - len(self._head)]
        self._tail += letters[-KEPT:]
        if len(self._tail) > 4 * KEPT:
            del self._tail[:-KEPT]

    def finish(self) -> tuple[bytes, bytes]:
        """The beginning and the end in upper case, U as T."""
        return _plain(self._head), _plain(self._tail[-KEPT:])


def terminal_repeat(head: bytes, tail: bytes, length: int) -> TerminalRepeat | None:
    """The longest beginning of a record of `length` letters that is also its end, in the same direction.

    It is at most half of the record, exact where it is short, and without inserted bases. None where there is none.
    """
    most = min(length // 2, len(tail))
    end, tried = tail[len(tail) - most :], set[int]()
    found: TerminalRepeat | None = None
    for at in range(0, min(SEED * SEEDS, most - SEED + 1), SEED):
        seed = head[at : at + SEED]
        place = end.find(seed, at)
        while place >= 0 and len(tried) < TRIES:
            size = most - (place - at)
            if size >= SHORTEST and size not in tried:
                tried.add(size)
                same = _equal(head[:size], end[most - size :])
                near = same >= (NEAR if size >= LONG_ENOUGH else 1.0) and not _simple(head[:size])
                if near and (found is None or size > found.length):
                    found = TerminalRepeat(length=size, identity=same)
            place = end.find(seed, place + 1)
    return found


def _plain(letters: bytearray) -> bytes:
    return bytes(letters).upper().replace(b"U", b"T")


def _equal(one: bytes, other: bytes) -> float:
    a, b = np.frombuffer(one, np.uint8), np.frombuffer(other, np.uint8)
    return float(np.mean((a == b) & np.isin(a, np.frombuffer(b"ACGT", np.uint8))))


def _simple(repeat: bytes) -> bool:
    letters = np.frombuffer(repeat, np.uint8)
    periods = range(1, min(PERIOD, len(letters) // 2) + 1)
    return any(float(np.mean(letters[p:] == letters[:-p])) > ALIKE for p in periods)
