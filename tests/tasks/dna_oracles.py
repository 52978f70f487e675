"""Plain definitions, letter by letter, and records made of letters."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from longseq.records import Record


def dna(alphabet: str, longest: int) -> st.SearchStrategy[bytes]:
    """Letters at random, of any length up to `longest`: plain text strategies are short nearly always."""

    def draw(seed: int, length: int) -> bytes:
        return "".join(random.Random(seed).choices(alphabet, k=length)).encode()

    return st.builds(draw, st.integers(0, 2**32), st.integers(0, longest))


def record(letters: bytes, cuts: list[int] | None = None, **facts) -> Record:
    """A record whose letters come cut at `cuts`."""
    edges = [0, *sorted(c % (len(letters) + 1) for c in cuts or []), len(letters)]
    pieces = [letters[a:b] for a, b in itertools.pairwise(edges)]
    facts = {"id": "r", "kind": "dna", "source": "x.fa", "index": 0} | facts
    return Record(pieces=iter(pieces), **facts)


class OneByOne:
    """Reads strands one after another, each with a reader of its own that takes letters and gives bits."""

    def __init__(self, reader):
        self.reader = reader

    def many(self, records):
        for key, pieces in records:
            yield key, self.track(pieces)

    def track(self, pieces):
        reader = self.reader()
        for piece in pieces:
            yield SimpleNamespace(bits=reader.push(piece))
        yield SimpleNamespace(bits=reader.finish())


def drawn(length: int, seed: int = 0, weights=(1, 1, 1, 1)) -> bytes:
    return "".join(random.Random(seed).choices("ACGT", weights, k=length)).encode()


class Planted:
    """Bits are the letter's own: 0 for A, 1 for C, 2 for G, 3 for T."""

    def push(self, letters: bytes) -> np.ndarray:
        table = np.full(256, np.nan, np.float32)
        table[list(b"ACGT")] = range(4)
        return table[np.frombuffer(letters, np.uint8)]

    def finish(self) -> np.ndarray:
        return np.zeros(0, np.float32)


def plain(letters: bytes) -> str:
    return letters.decode().upper().replace("U", "T")


def words(text: str, k: int) -> list[str]:
    """Overlapping words of k letters that hold A, C, G, T alone."""
    found = (text[i : i + k] for i in range(len(text) - k + 1))
    return [word for word in found if set(word) <= set("ACGT")]


def shannon(items) -> float:
    counts = Counter(items)
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values()) if total else math.nan


def divide(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def gaps(text: str) -> list[int]:
    """Lengths of the runs of N."""
    return [len(run) for run in "".join(c if c == "N" else " " for c in text).split()]


def dust_tiles(window: str) -> list[tuple[int, float]]:
    """Triplets that begin in each tile of 64 letters of a window, and their DUST score."""
    tiles = []
    for start in range(0, len(window), 64):
        triplets = words(window[start : start + 66], 3)
        pairs = sum(n * (n - 1) / 2 for n in Counter(triplets).values())
        tiles.append((len(triplets), pairs / (len(triplets) - 1) if len(triplets) > 1 else 0.0))
    return tiles
