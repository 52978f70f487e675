"""Genomes written anew: the same genes in other codons and another composition, and random sequence between them.

Of each gene the start codon, the two codons behind it and whatever overlaps another gene stay, and so do the bases
before each start, where ribosomes bind. The other codons are drawn anew among those of the same amino acid, by a
preference drawn for the genome and tilted so that its coding sequence comes to the wished share of G and C. As real
proteins do, those of a rich or poor genome exchange some amino acids for like ones of rich or poor codons. Bases
between genes drift to the wished share too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from genome import Contig, Part, reading

from longseq.formats.genetic_code import genetic_code
from longseq.records import reverse_complement

BEFORE = 25
"""Bases before a start that stay as they are."""
KEPT = 3
"""Codons at the begin of a gene that stay as they are."""
LESS = 0.05
"""By so much the share of G and C between genes is below that of genes."""
RICHER = {"K": "R", "I": "V", "N": "D", "F": "L", "S": "A", "T": "A", "Y": "H", "Q": "E"}
POORER = {"R": "K", "V": "I", "D": "N", "L": "I", "A": "S", "G": "S", "H": "Y", "P": "T"}
"""What an amino acid is exchanged for in a genome of more, and of less, G and C."""
LIKING, SPREAD = 0.4, 0.35
"""How strongly a genome prefers some codons of equal G and C, and how far genes depart from it in these."""
EXCHANGED = 0.8
"""Share of exchanges for each unit by which G and C depart from one half."""


def recoded(contig: Contig, *, name: str, gc: float, code: int, draw: np.random.Generator) -> Contig:
    """The contig written anew with a share `gc` of G and C in its genes; positions stay."""
    letters = np.frombuffer(contig.letters, np.uint8).copy()
    depth = np.zeros(len(letters) + 1, np.int64)
    kept = np.zeros(len(letters), bool)
    for part in contig.parts:
        np.add.at(depth, [part.start, part.end], [1, -1])
        if not part.whole:
            kept[part.start : part.end] = True
        before = (part.start - BEFORE, part.start) if part.strand == "+" else (part.end, part.end + BEFORE)
        kept[max(before[0], 0) : max(before[1], 0)] = True
    depth = np.cumsum(depth[:-1])
    codons = Codons(code, gc, _amino_acids(contig, code), draw)
    for part in contig.parts:
        if part.whole:
            free = (depth[part.start : part.end] == 1) & ~kept[part.start : part.end]
            letters[part.start : part.end] = _rewritten(contig, part, free, codons)
    _drift(letters, (depth == 0) & ~kept, gc - LESS, draw)
    return replace(contig, name=name, letters=letters.tobytes())


class Codons:
    """How a genome chooses among the codons of an amino acid."""

    def __init__(self, code: int, gc: float, amino_acids: np.ndarray, draw: np.random.Generator):
        """`amino_acids` (26,) counts by letter; `gc` the share of G and C to come to."""
        self.code, self._draw = genetic_code(code), draw
        self._exchanges = RICHER if gc > 0.5 else POORER
        self._share = EXCHANGED * abs(gc - 0.5)
        self._of: dict[str, tuple[list[str], np.ndarray, np.ndarray]] = {}
        for letter in sorted(set(self.code.amino_acids.values())):
            some = [codon for codon, other in self.code.amino_acids.items() if other == letter]
            liking = np.log(draw.dirichlet(np.full(len(some), 2.0)) + 0.02)
            rich = np.array([sum(base in "GC" for base in codon) for codon in some], float)
            self._of[letter] = some, liking, rich
        counts = {letter: float(amino_acids[ord(letter) - 65]) for letter in self._of if letter != "*"}
        low, high = -12.0, 12.0
        for _ in range(40):
            self._tilt = (low + high) / 2
            low, high = (self._tilt, high) if self._gc(counts) < gc else (low, self._tilt)

    def _weights(self, letter: str, tilt: float) -> np.ndarray:
        _, liking, rich = self._of[letter]
        scores = LIKING * liking + tilt * rich
        weights = np.exp(scores - scores.max())
        return weights / weights.sum()

    def _gc(self, counts: dict[str, float]) -> float:
        total = sum(counts.values()) or 1.0
        found = 0.0
        for letter, count in counts.items():
            other = self._exchanges.get(letter, letter)
            for kind, share in ((letter, 1 - self._share), (other, self._share)):
                found += count * share * float(self._weights(kind, self._tilt) @ self._of[kind][2]) / 3
        return found / total

    def gene(self) -> dict[str, tuple[list[str], np.ndarray]]:
        """Codons and their weights in one gene, which departs a little from the genome."""
        tilt = self._tilt + self._draw.normal(0, SPREAD)
        return {letter: (some, self._weights(letter, tilt)) for letter, (some, _, _) in self._of.items()}

    def exchanged(self, letter: str) -> str:
        return self._exchanges.get(letter, letter) if self._draw.random() < self._share else letter


def _rewritten(contig: Contig, part: Part, free: np.ndarray, codons: Codons) -> np.ndarray:
    text = reading(contig, part).decode("ascii")
    free = free if part.strand == "+" else free[::-1]
    weights, written = codons.gene(), list(text)
    drawn: dict[str, list[str]] = {}
    for i in range(3 * KEPT, len(text), 3):
        letter = codons.code.amino_acids.get(text[i : i + 3])
        if letter is None or not free[i : i + 3].all() or (letter == "*") != (i + 3 == len(text)):
            continue
        letter = codons.exchanged(letter)
        if not drawn.get(letter):
            some, chances = weights[letter]
            drawn[letter] = [some[k] for k in codons._draw.choice(len(some), 64, p=chances)]
        written[i : i + 3] = drawn[letter].pop()
    found = "".join(written).encode("ascii")
    return np.frombuffer(found if part.strand == "+" else reverse_complement(found), np.uint8)


def _amino_acids(contig: Contig, code: int) -> np.ndarray:
    counts = np.zeros(26)
    for part in contig.parts:
        if part.whole:
            protein = genetic_code(code).translate(reading(contig, part), starts=False).encode("ascii")
            some = np.frombuffer(protein, np.uint8)
            counts += np.bincount(some[(some >= 65) & (some < 91)] - 65, minlength=26)
    return counts


def _drift(letters: np.ndarray, where: np.ndarray, gc: float, draw: np.random.Generator) -> None:
    """Change some of the letters `where`, in place, so that their share of G and C comes to `gc`."""
    rich = np.isin(letters, list(b"GC"))
    now = rich[where].mean() if where.any() else gc
    away, pool = (~rich, b"GC") if gc > now else (rich, b"AT")
    share = (gc - now) / (1 - now) if gc > now else (now - gc) / max(now, 1e-9)
    chosen = np.flatnonzero(where & away & (draw.random(len(letters)) < share))
    letters[chosen] = draw.choice(np.frombuffer(pool, np.uint8), len(chosen))


def random_letters(like: bytes, length: int, draw: np.random.Generator) -> bytes:
    """A random sequence of the order-3 frequencies of another one, both strands alike."""
    digit = np.full(256, 255, np.uint8)
    digit[list(b"ACGT")] = range(4)
    counts = np.ones((64, 4))
    for text in (like, reverse_complement(like)):
        d = digit[np.frombuffer(text, np.uint8)].astype(np.int64)
        words = d[:-3] * 64 + d[1:-2] * 16 + d[2:-1] * 4 + d[3:]
        known = (d[:-3] < 4) & (d[1:-2] < 4) & (d[2:-1] < 4) & (d[3:] < 4)
        counts += np.bincount(words[known], minlength=256).reshape(64, 4)
    steps = np.cumsum(counts / counts.sum(1, keepdims=True), 1).tolist()
    state, found = int(draw.integers(64)), bytearray()
    for chance in draw.random(length).tolist():
        row = steps[state]
        base = 0 if chance < row[0] else 1 if chance < row[1] else 2 if chance < row[2] else 3
        found.append(b"ACGT"[base])
        state = (state * 4 + base) % 64
    return bytes(found)


def spread(contig: Contig, draw: np.random.Generator, every: int = 15_000) -> Contig:
    """The contig with random stretches of its own composition put in between genes, about one in `every` bases."""
    depth = np.zeros(len(contig.letters) + 1, np.int64)
    for part in contig.parts:
        np.add.at(depth, [max(part.start - BEFORE, 0), min(part.end + BEFORE, len(contig.letters))], [1, -1])
    free = np.flatnonzero(np.cumsum(depth[:-1]) == 0)
    number = min(len(contig.letters) // every, len(free))
    places = np.sort(draw.choice(free, number, replace=False)) if number else np.zeros(0, np.int64)
    sizes = draw.integers(200, 3000, number)
    reservoir = random_letters(contig.letters, int(sizes.sum()), draw)
    pieces, last, at = [], 0, 0
    for place, size in zip(places.tolist(), sizes.tolist(), strict=True):
        pieces += [contig.letters[last:place], reservoir[at : at + size]]
        last, at = place, at + size
    pieces.append(contig.letters[last:])
    shifts = np.concatenate([[0], np.cumsum(sizes)])

    def moved(part: Part) -> Part:
        by = int(shifts[np.searchsorted(places, part.start, side="right")])
        return replace(part, start=part.start + by, end=part.end + by)

    return replace(contig, letters=b"".join(pieces), parts=tuple(moved(part) for part in contig.parts))
