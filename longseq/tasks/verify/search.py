"""Where sentences stand in a text that is too long to hold: all of them in one walk, white space left aside.

The text's letters without white space are hashed in stretches, all stretches of a block at once (a polynomial in 64
bits, as Karp and Rabin 1987 do it); where a stretch has the hash of a sentence's beginning, the letters are compared.
A second walk looks for beginnings and ends of those that were not found whole. The time does not depend on how many
sentences there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

import numpy as np

from longseq.tasks.document.manuscript import Manuscript

BLOCK = 1 << 18
"""Code points looked through at a time."""
LONGEST_STRETCH = 256
"""Letters of a sentence's beginning that are hashed at most; a power of two."""
SIGN = 16
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


class _Nearest:
    """Of places that come in order, the nearest to each of some expected ones."""

    def __init__(self, expected: Sequence[int]):
        self._expected = np.array(expected, np.int64)
        self.distance = np.full(len(expected), np.iinfo(np.int64).max)
        self.start, self.end = np.full(len(expected), -1), np.full(len(expected), -1)

    def add(self, places: Sequence[tuple[int, int]]) -> None:
        """`places` are starts and ends, ascending."""
        if not places:
            return
        starts, ends = np.array(places, np.int64).T
        after = np.searchsorted(starts, self._expected)
        for at in (np.maximum(after - 1, 0), np.minimum(after, len(starts) - 1)):
            distance = np.abs(starts[at] - self._expected)
            nearer = distance < self.distance
            self.distance = np.where(nearer, distance, self.distance)
            self.start = np.where(nearer, starts[at], self.start)
            self.end = np.where(nearer, ends[at], self.end)


class _Sought:
    """Letters to be found, for all the sentences that have them."""

    def __init__(self, text: str, letters: np.ndarray, expected: Sequence[int]):
        self.text, self.letters = text, letters
        self.size = min(LONGEST_STRETCH, 1 << max(len(letters).bit_length() - 1, 0))
        """Letters hashed."""
        self.exact, self.any = _Nearest(expected), _Nearest(expected)


def find(text: Manuscript, wanted: Sequence[Wanted]) -> list[Found]:
    """What became of each sentence, in the order given; none of them stands at its place."""
    found = [Found("gone", -1, -1)] * len(wanted)
    for one, members in _walk(text, [one.text for one in wanted], wanted):
        for k, member in enumerate(members):
            if one.exact.start[k] >= 0:
                found[member] = Found("moved", int(one.exact.start[k]), int(one.exact.end[k]))
            elif one.any.start[k] >= 0:
                found[member] = Found("respaced", int(one.any.start[k]), int(one.any.end[k]))
    lost = [i for i, one in enumerate(found) if one.state == "gone" and len(_letters(wanted[i].text)[0]) >= SIGN]
    signs = [_sign(wanted[i].text, end) for end in (False, True) for i in lost]
    places = [(-1, -1)] * len(signs)
    for one, members in _walk(text, signs, [wanted[i] for i in lost] * 2):
        for k, member in enumerate(members):
            places[member] = (int(one.any.start[k]), int(one.any.end[k]))
    for k, i in enumerate(lost):
        found[i] = _altered(text, wanted[i].text, places[k][0], places[len(lost) + k][1])
    return found


def _sign(text: str, end: bool) -> str:
    """The beginning or the end of a sentence."""
    bare = "".join(map(chr, _letters(text)[0].tolist()))
    return bare[-SIGN:] if end else bare[:SIGN]


def _walk(text: Manuscript, texts: list[str], wanted: Sequence[Wanted]) -> Iterator[tuple[_Sought, list[int]]]:
    """All of these in one walk through the text: each different one, and the places of those that are it."""
    members: dict[str, list[int]] = defaultdict(list)
    for i, key in enumerate(texts):
        members[key].append(i)
    sought = {key: _Sought(key, _letters(key)[0], [wanted[i].start for i in some]) for key, some in members.items()}
    known: dict[int, dict[int, list[_Sought]]] = defaultdict(lambda: defaultdict(list))
    for one in sought.values():
        if len(one.letters):
            known[one.size][int(_hashes(one.letters[: one.size], one.size)[0])].append(one)
    if known:
        longest = max(len(one.letters) for one in sought.values())
        for window in _windows(text, longest):
            for size, some in known.items():
                _look(window, size, some)
    yield from ((one, members[key]) for key, one in sought.items())


class _Window(NamedTuple):
    """A stretch of the text; each of its letters is in `last` of one window, with all that may be a hit behind it."""

    text: str
    start: int
    """Where it begins in the whole."""
    letters: np.ndarray
    """(n,) uint32 code points that are no white space."""
    offsets: np.ndarray
    """(n,) int64 their places in the whole."""
    last: int
    """Letters at which a hit may begin; the others begin the next window."""


def _windows(text: Manuscript, longest: int) -> Iterator[_Window]:
    start, end = 0, 0
    while end < len(text):
        end = min(end + BLOCK, len(text))
        piece = text.read(start, end).text
        letters, offsets = _letters(piece)
        last = len(letters) if end == len(text) else max(len(letters) - longest + 1, 0)
        yield _Window(piece, start, letters, offsets + start, last)
        start = start + int(offsets[last]) if last < len(letters) else end


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


def _look(window: _Window, size: int, known: dict[int, list[_Sought]]) -> None:
    if len(window.letters) < size:
        return
    hashes = _hashes(window.letters, size)[: window.last]
    keys = np.array(sorted(known), np.uint64)
    nearest = keys[np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)]
    hits: dict[int, list[int]] = defaultdict(list)
    for at in np.flatnonzero(nearest == hashes).tolist():
        hits[int(hashes[at])].append(at)
    for key, places in hits.items():
        for one in known[key]:
            _hit(window, one, places)


def _hit(window: _Window, one: _Sought, places: Iterable[int]) -> None:
    """Tell one of them where it stands, of places where its beginning may."""
    count, exact, some = len(one.letters), [], []
    for at in places:
        if not np.array_equal(window.letters[at : at + count], one.letters):
            continue
        start, end = int(window.offsets[at]), int(window.offsets[at + count - 1]) + 1
        some.append((start, end))
        if window.text[start - window.start : end - window.start] == one.text:
            exact.append((start, end))
    one.any.add(some)
    one.exact.add(exact)


def _altered(text: Manuscript, sentence: str, begins: int, ends: int) -> Found:
    """What became of a sentence whose beginning and end, as far as they are found (else -1), are nearest there."""
    length = len(sentence)
    spans = []
    if begins >= 0 and 0 < ends - begins <= 2 * length:
        spans.append((begins, ends))
    if begins >= 0:
        spans.append((begins, min(begins + length, len(text))))
    if ends >= 0:
        spans.append((max(ends - length, 0), ends))
    for start, end in spans:
        if _like(sentence, text.read(start, min(end, start + COMPARED)).text):
            return Found("altered", start, end)
    return Found("gone", -1, -1)


def _like(one: str, other: str) -> bool:
    return SequenceMatcher(None, one[:COMPARED], other, autojunk=False).ratio() >= LIKE
