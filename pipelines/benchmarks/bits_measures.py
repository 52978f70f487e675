"""Sums of bits that bits_per_base.py keeps of a reading, and what is told from them, with intervals."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from bits_readers import Reader

from longseq.records import reverse_complement

EDGES = (0, 1_000, 8_000, 64_000)
BRACKETS = ("0-1k", "1k-8k", "8k-64k", "over 64k")
BLOCK = 10_000
"""Bases that are drawn together when intervals are made: neighbours cost alike."""
CONTEXTS = {"1k": 1_024, "8k": 8_192, "64k": 65_536}
SPAN = 32_768
"""Bases of a stretch that is read with every context: half of the longest."""
CELL = 4_096
"""Bases of a stretch that are drawn together."""
DRAWS, SEED = 2_000, 0


@dataclass(frozen=True)
class Stretch:
    """`SPAN` bases of a contig, at least the longest context away from its start."""

    contig: int
    start: int


@dataclass(frozen=True)
class Reading:
    """Sums over a test set read by one reader, both strands."""

    blocks: np.ndarray
    """(K, 2): bits, and bases scored, of each block of each contig, both strands together."""
    strands: np.ndarray
    """(2, 2): bits and bases of each strand."""
    brackets: np.ndarray
    """(4, 2): bits and bases by what was read of the record before."""
    context: np.ndarray
    """(4, M, 2): bits and bases of each cell of the stretches, by each context and the whole record; empty if not
    asked for. Forward strand."""
    seconds: np.ndarray

    @classmethod
    def kept(cls, file: Path) -> Reading:
        with np.load(file) as found:
            return cls(**found)

    def keep(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, **{name: np.asarray(value) for name, value in asdict(self).items()})


def read(reader: Reader, contigs: list[bytes], joined: bool, stretches: list[Stretch]) -> Reading:
    """Both strands of all contigs, each a record, or end to end as one record if `joined`."""
    began = time.monotonic()
    records = [b"".join(contigs)] if joined else contigs
    cuts = np.cumsum([len(contig) for contig in contigs])[:-1]
    blocks: list[np.ndarray] = []
    strands, brackets = np.zeros((2, 2)), np.zeros((len(EDGES), 2))
    context = np.zeros((len(CONTEXTS) + 1, 0, 2))
    for strand in range(2):
        found = reader([reverse_complement(record) for record in records] if strand else records)
        for bits in found:
            for bracket, (start, end) in enumerate(zip(EDGES, (*EDGES[1:], None), strict=True)):
                brackets[bracket] += sums(bits[start:end])
        if strand:
            found = [bits[::-1] for bits in found]
        by_contig = np.split(found[0], cuts) if joined else found
        blocks.append(np.concatenate([cells(bits, BLOCK) for bits in by_contig]))
        strands[strand] = blocks[-1].sum(0)
        if strand == 0 and stretches:
            whole = [by_contig[s.contig][s.start : s.start + SPAN] for s in stretches]
            context = np.stack(
                [*in_context(reader, contigs, stretches), np.concatenate([cells(w, CELL) for w in whole])]
            )
    return Reading(blocks[0] + blocks[1], strands, brackets, context, np.array(time.monotonic() - began))


def in_context(reader: Reader, contigs: list[bytes], stretches: list[Stretch]) -> list[np.ndarray]:
    """(M, 2) of the stretches for each context: windows of its length read anew, the second half of each counted, so
    that every base has between half of it and all of it before."""
    windows, sizes = [], []
    for size in CONTEXTS.values():
        for stretch in stretches:
            for start in range(stretch.start, stretch.start + SPAN, size // 2):
                windows.append(contigs[stretch.contig][start - size // 2 : start + size // 2])
                sizes.append(size)
    bits = reader(windows)
    return [
        np.concatenate([cells(np.concatenate(part), CELL) for part in halves(bits, sizes, size)])
        for size in CONTEXTS.values()
    ]


def halves(bits: list[np.ndarray], sizes: list[int], size: int) -> list[list[np.ndarray]]:
    """Second halves of the windows of one size, a list for each stretch."""
    mine = [b[size // 2 :] for b, s in zip(bits, sizes, strict=True) if s == size]
    each = 2 * SPAN // size
    return [mine[i : i + each] for i in range(0, len(mine), each)]


def stretches_of(contigs: list[bytes], number: int) -> list[Stretch]:
    """At most so many, evenly spread over all that have the longest context before them."""
    longest = max(CONTEXTS.values())
    places = [
        Stretch(i, start) for i, contig in enumerate(contigs) for start in range(longest, len(contig) - SPAN + 1, SPAN)
    ]
    chosen = np.unique(np.linspace(0, len(places) - 1, min(number, len(places))).astype(int)) if places else ()
    return [places[i] for i in chosen]


def sums(bits: np.ndarray) -> np.ndarray:
    return np.array([np.nansum(bits, dtype=np.float64), np.isfinite(bits).sum()])


def cells(bits: np.ndarray, size: int) -> np.ndarray:
    """(K, 2): bits and bases of each stretch of `size` bases, the last one shorter."""
    if not len(bits):
        return np.zeros((0, 2))
    starts = np.arange(0, len(bits), size)
    finite = np.isfinite(bits)
    summed = np.add.reduceat(np.where(finite, bits, 0).astype(np.float64), starts)
    return np.stack([summed, np.add.reduceat(finite.astype(np.float64), starts)], 1)


def told(reading: Reading) -> dict:
    """The figures of a row."""
    row = {
        "bits_per_base": ratio(reading.blocks),
        "forward": ratio(reading.strands[:1]),
        "reverse": ratio(reading.strands[1:]),
        "by_position": {
            name: ratio(part[None]) if part[1] else None for name, part in zip(BRACKETS, reading.brackets, strict=True)
        },
        "seconds": float(reading.seconds),
    }
    if reading.context.size:
        names = [*CONTEXTS, "whole"]
        row["by_context"] = {name: ratio(part) for name, part in zip(names, reading.context, strict=True)}
        row["context_falls"] = {
            f"{less} to {more}": difference(after, before)
            for less, more, before, after in zip(names, names[1:], reading.context, reading.context[1:], strict=False)
        }
    return row


def ratio(parts: np.ndarray) -> float:
    return float(parts[:, 0].sum() / max(parts[:, 1].sum(), 1))


def difference(one: np.ndarray, other: np.ndarray) -> dict[str, float]:
    """Bits per base of `one` less those of `other`, (K, 2) sums over the same cells, and a 95 % interval of it:
    percentiles over draws of cells with replacement, the same cells for both."""
    if not np.array_equal(one[:, 1], other[:, 1]):
        raise ValueError("readings of different bases cannot be paired")
    gap, bases = one[:, 0] - other[:, 0], one[:, 1]
    drawn = np.random.default_rng(SEED).multinomial(len(gap), np.full(len(gap), 1 / len(gap)), DRAWS)
    low, high = np.percentile((drawn @ gap) / np.maximum(drawn @ bases, 1), [2.5, 97.5])
    return {"difference": float(gap.sum() / bases.sum()), "low": float(low), "high": float(high)}
