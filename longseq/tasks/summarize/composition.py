"""Letters of one record, counted as they pass: codes, case, runs of N, and the digest of the sequence."""

from __future__ import annotations

import base64
import hashlib
from typing import NamedTuple

import numpy as np

from longseq.errors import AlphabetError
from longseq.records import IUPAC

SLICE = 1 << 17
"""Letters looked at together: what fits the processor's cache."""
SHORT = 1 << 10
"""Letters below which text methods count faster than arrays."""


class Composition(NamedTuple):
    length: int
    letters: dict[str, int]
    lower: int
    gaps: int
    longest_gap: int
    digest: str


class CompositionCounter:
    """Fed with a record's letters in pieces of any size; the result does not depend on the cuts."""

    def __init__(self):
        self._counts = dict.fromkeys(IUPAC, 0)
        self._length = self._lower = self._gaps = self._longest_gap = 0
        self._open_gap = 0
        """Length of the run of N that the letters so far end in."""
        self._sha512 = hashlib.sha512()

    def push(self, letters: bytes) -> None:
        """Count the next letters.

        Raises:
            AlphabetError: a letter that is no nucleotide code.
        """
        if len(letters) < SHORT and self._push_short(letters):
            return
        array = np.frombuffer(letters, np.uint8)
        for start in range(0, len(array), SLICE):
            self._push(array[start : start + SLICE])

    def finish(self) -> Composition:
        self._longest_gap = max(self._longest_gap, self._open_gap)
        return Composition(
            self._length,
            {chr(code): count for code, count in self._counts.items() if count},
            self._lower,
            self._gaps,
            self._longest_gap,
            "SQ." + base64.urlsafe_b64encode(self._sha512.digest()[:24]).decode(),
        )

    def _push_short(self, letters: bytes) -> bool:
        """Count a few letters of A, C, G, T alone, in upper case; False where there are others."""
        counts = [letters.count(code) for code in b"ACGT"]
        if sum(counts) != len(letters):
            return False
        for code, found in zip(b"ACGT", counts, strict=True):
            self._counts[code] += found
        if letters:
            self._longest_gap, self._open_gap = max(self._longest_gap, self._open_gap), 0
        self._length += len(letters)
        self._sha512.update(letters)
        return True

    def _push(self, letters: np.ndarray) -> None:
        upper = letters & 0xDF
        is_n = upper == ord("N")
        found = int(np.count_nonzero(is_n))
        self._counts[ord("N")] += found
        self._follow_gaps(is_n, found)
        left = len(upper) - found
        for code in b"ACGTURYSWKMBDHV":
            if left == 0:
                break
            is_code = upper == code
            found = int(np.count_nonzero(is_code))
            if code == ord("U") and found:
                upper[is_code] = code = ord("T")
            if found:
                self._counts[code] += found
                left -= found
        if left:
            raise AlphabetError(expected="nucleotide codes", found=f"{left} letters of another kind")
        self._length += len(upper)
        self._lower += int(np.count_nonzero(letters & 0x20))
        self._sha512.update(upper.data)

    def _follow_gaps(self, is_n: np.ndarray, found: int) -> None:
        if found == 0:
            if self._open_gap:
                self._longest_gap, self._open_gap = max(self._longest_gap, self._open_gap), 0
            return
        edges = np.flatnonzero(np.diff(is_n.view(np.int8), prepend=np.int8(0), append=np.int8(0)))
        lengths = edges[1::2] - edges[::2]
        self._gaps += len(lengths)
        if is_n[0] and self._open_gap:
            self._gaps -= 1  # the run goes on
            lengths[0] += self._open_gap
        self._longest_gap = max(self._longest_gap, self._open_gap, int(lengths.max()))
        self._open_gap = int(lengths[-1]) if is_n[-1] else 0
