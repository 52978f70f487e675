"""Telomere repeats, looked for at the ends of a record only: what stands inside is no telomere.

Thresholds are high: ten copies and 60 bases in exact repeats, begun within 100 bases of the end. Flies have no such
repeats, and yeasts have irregular ones: neither is called.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from longseq.records import reverse_complement
from longseq.results.findings import Telomere

UNITS = (
    "TTAGGG",  # vertebrates, many fungi and invertebrates
    "TTTAGGG",  # most plants, Plasmodium
    "TTAGG",  # insects, crustaceans
    "TTAGGC",  # roundworms
    "TCAGG",  # beetles
    "TTTTAGGG",  # green algae, Theileria
    "TTCAGGG",  # Plasmodium
    "TTGGGG",  # Tetrahymena
    "TTTTGGGG",  # Oxytricha, Euplotes
    "TTGGGT",  # Paramecium
    "TTTTTTAGGG",  # Cestrum
    "CTCGGTTATGGG",  # onions
    "TTATTGGG",  # some bees, wasps and ants
    "TAGGG",  # Giardia
)
"""As they read towards the end of a chromosome (Fulnecková et al. 2013; Lyčka et al. 2024, TeloBase)."""
FAR = 100
"""Letters between the record's end and the run, at most."""
COPIES, SHORTEST = 10, 60
"""Copies and bases in exact repeats, at least."""
BROKEN = 100
"""What a run may lose to bases outside exact repeats before it is over; one a base, won back by one inside."""

_LONGEST = max(map(len, UNITS))
_REPEATS: dict[str, dict[bytes, tuple[str, Literal["+", "-"]]]] = {"start": {}, "end": {}}
"""By the end, what is read from there on into the record of each unit and strand."""
for _unit in UNITS:
    _word = _unit.encode()
    _REPEATS["start"] |= {_word: (_unit, "+"), reverse_complement(_word): (_unit, "-")}
    _REPEATS["end"] |= {_word[::-1]: (_unit, "+"), reverse_complement(_word)[::-1]: (_unit, "-")}

_CODE = np.full(256, 4, np.uint8)
_CODE[list(b"ACGT")] = range(4)


def telomeres(head: bytes, tail: bytes) -> tuple[Telomere, ...]:
    """What is found at the start and at the end, from the first and last letters of a record in upper case."""
    found = (_at("start", head), _at("end", tail[::-1]))
    return tuple(one for one in found if one is not None)


def _at(end: Literal["start", "end"], inwards: bytes) -> Telomere | None:
    """The best run in letters that go from an end into the record."""
    best: Telomere | None = None
    front = inwards[: FAR + 2 * _LONGEST]
    for repeat, (unit, strand) in _REPEATS[end].items():
        if repeat in front and 3 * repeat in inwards:  # a run begins near the end, and is long
            run = _run(inwards, repeat)
            if run is not None and (best is None or run[1] > best.repeated):
                best = Telomere(end=end, unit=unit, strand=strand, length=run[0], repeated=run[1])
    return best


def _run(letters: bytes, repeat: bytes) -> tuple[int, int] | None:
    """Length of the run of `repeat` near the front of `letters`, and bases of it in exact repeats."""
    inside = _repeated(letters, repeat)
    first = int(np.argmax(inside))
    if not inside[first] or first > FAR:
        return None
    score = np.cumsum(np.where(inside[first:], 1, -1))
    over = np.flatnonzero(np.maximum.accumulate(score) - score > BROKEN)
    if len(over):
        score = score[: over[0]]
    length = int(np.argmax(score)) + 1
    repeated = int(np.count_nonzero(inside[first : first + length]))
    return (length, repeated) if repeated >= max(COPIES * len(repeat), SHORTEST) else None


def _repeated(letters: bytes, repeat: bytes) -> np.ndarray:
    """(L,) bool: letters that lie in two copies of the repeat in a row, wherever they begin in it."""
    codes, span = _CODE[np.frombuffer(letters, np.uint8)], 2 * len(repeat)
    count = len(codes) - span + 1
    words = np.zeros(count, np.int64)
    known = np.ones(count, bool)
    for i in range(span):
        words = (words << 2) | (codes[i : i + count] & 3)
        known &= codes[i : i + count] < 4
    wanted = {repeat[i:] + repeat[:i] for i in range(len(repeat))}
    packed = [sum(int(_CODE[b]) << 2 * (span - 1 - i) for i, b in enumerate(2 * word)) for word in wanted]
    hits = np.isin(words, packed) & known
    edges = np.zeros(len(codes) + 1, np.int64)
    edges[:count] += hits
    edges[span:] -= hits
    return np.cumsum(edges[:-1]) > 0
