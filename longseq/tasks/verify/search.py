"""Where sentences stand in a text that is too long to hold: all of them in one pass, white space left aside.

The text's letters without white space are hashed in stretches of a few, all stretches of a block at once (a polynomial
in 64 bits, as Karp and Rabin 1987 do it); where a sentence begins or ends by its hash, the letters are compared. The
time does not depend on how many sentences there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

import numpy as np

from longseq.tasks.document.manuscript import Manuscript

BLOCK = 1 << 18
"""Code points looked through at a time."""
LONGEST_STRETCH = 16
"""Letters hashed; a power of two."""
SHORTEST_SIGN = 8
"""Letters at a sentence's beginning or end by which it is known again when the rest was altered."""
LIKE = 0.6
"""Share of letters that an altered sentence has kept."""
COMPARED = 2000
"""Code points of it that are compared."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_WHITE = np.zeros(0x3002, bool)
_WHITE[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]] = True
_WHITE[[0x2028, 0x2029, 0x202F, 0x205F, 0x3000]] = True


class Found(NamedTuple):
    """A sentence that does not stand at its place, and what became of it."""

    state: Literal["moved", "respaced", "altered", "gone"]
    start: int
    """First code point in the text; of one that is gone -1."""
    end: int
    """One past the last."""


class Wanted(NamedTuple):
    """A sentence to look for."""

    text: str
    start: int
    """Where it is expected: of several places the nearest one counts."""


@dataclass
class _Sought:
    """One of them on its way through the text."""

    wanted: Wanted
    letters: np.ndarray
    best: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """By kind of hit: distance, start, end."""

    def hit(self, kind: str, start: int, end: int) -> None:
        distance = abs(start - self.wanted.start)
        if kind not in self.best or distance < self.best[kind][0]:
            self.best[kind] = (distance, start, end)


class _Sign(NamedTuple):
    """The beginning or the end of a sentence, by which its places are found."""

    sought: _Sought
    ends: bool
    letters: np.ndarray


def find(text: Manuscript, wanted: Sequence[Wanted]) -> list[Found]:
    """What became of each sentence, in the order given; none of them stands at its place."""
    sought = [_Sought(one, _letters(one.text)[0]) for one in wanted]
    signs: dict[int, dict[int, list[_Sign]]] = defaultdict(lambda: defaultdict(list))
    for one in sought:
        count = len(one.letters)
        if not count:
            continue
        size = min(LONGEST_STRETCH, 1 << (count.bit_length() - 1))
        for ends in (False, True) if size >= SHORTEST_SIGN else (False,):
            letters = one.letters[count - size :] if ends else one.letters[:size]
            signs[size][int(_hashes(letters, size)[0])].append(_Sign(one, ends, letters))
    longest = max((len(one.letters) for one in sought), default=0)
    if not longest:
        return [Found("gone", -1, -1) for _ in sought]
    for letters, offsets, last in _windows(text, longest):
        for size, known in signs.items():
            _look(text, letters, offsets, last, size, known)
    return [_settled(text, one) for one in sought]


def _windows(text: Manuscript, longest: int) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Letters without white space, their places in the text, and how many of them may begin a hit: each letter of the
    text does so once, with `longest` letters behind it where there are so many."""
    letters, offsets = np.zeros(0, np.uint32), np.zeros(0, np.int64)
    for at in range(0, len(text), BLOCK):
        end = min(at + BLOCK, len(text))
        more, where = _letters(text.read(at, end).text)
        letters, offsets = np.concatenate((letters, more)), np.concatenate((offsets, where + at))
        last = len(letters) if end == len(text) else max(len(letters) - longest + 1, 0)
        yield letters, offsets, last
        letters, offsets = letters[last:], offsets[last:]


def _letters(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Code points that are no white space, uint32, and their places, int64."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    places = np.flatnonzero(~_WHITE[np.minimum(codes, len(_WHITE) - 1)])
    return codes[places], places


def _hashes(letters: np.ndarray, size: int) -> np.ndarray:
    """uint64 hash of each stretch of `size` letters, a power of two: of two halves at a time."""
    found, width, power = letters.astype(np.uint64), 1, _BASE
    with np.errstate(over="ignore"):
        while width < size:
            found = found[:-width] * power + found[width:]
            width, power = 2 * width, power * power
    return found


def _look(
    text: Manuscript,
    letters: np.ndarray,
    offsets: np.ndarray,
    last: int,
    size: int,
    known: dict[int, list[_Sign]],
) -> None:
    if len(letters) < size:
        return
    hashes = _hashes(letters, size)[:last]
    keys = np.array(sorted(known), np.uint64)
    nearest = keys[np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)]
    for at in np.flatnonzero(nearest == hashes).tolist():
        for sign in known[int(hashes[at])]:
            if not np.array_equal(letters[at : at + size], sign.letters):
                continue
            one = sign.sought
            start, end = int(offsets[at]), int(offsets[at + size - 1]) + 1
            if sign.ends:
                one.hit("end", start, end)
                continue
            count = len(one.letters)
            if np.array_equal(letters[at : at + count], one.letters):
                end = int(offsets[at + count - 1]) + 1
                one.hit("moved" if text.read(start, end).text == one.wanted.text else "respaced", start, end)
            if size >= SHORTEST_SIGN:
                one.hit("beginning", start, end)


def _settled(text: Manuscript, one: _Sought) -> Found:
    for state in ("moved", "respaced"):
        if state in one.best:
            return Found(state, *one.best[state][1:])
    length = len(one.wanted.text)
    begins, ends = one.best.get("beginning"), one.best.get("end")
    spans = []
    if begins and ends and 0 < ends[2] - begins[1] <= 2 * length:
        spans.append((begins[1], ends[2]))
    if begins:
        spans.append((begins[1], min(begins[1] + length, len(text))))
    if ends:
        spans.append((max(ends[2] - length, 0), ends[2]))
    for start, end in spans:
        if _like(one.wanted.text, text.read(start, min(end, start + 2 * COMPARED)).text):
            return Found("altered", start, end)
    return Found("gone", -1, -1)


def _like(one: str, other: str) -> bool:
    return SequenceMatcher(None, one[:COMPARED], other[:COMPARED], autojunk=False).ratio() >= LIKE
