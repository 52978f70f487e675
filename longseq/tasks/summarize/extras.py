"""What is looked for beyond counts, where it is asked for: by vectors, a classifier, a gene finder, a model's range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from longseq.results.dna import QUOTED, SurprisingWindow, WindowColumns
from longseq.results.findings import ClassCall, Findings, WindowVectors
from longseq.tasks.summarize.genes import LONGEST, GeneFinder
from longseq.tasks.summarize.hidden import Pools, picked, representatives
from longseq.tasks.summarize.novelty import novelty
from longseq.tasks.summarize.scan import Scan, Wanted

if TYPE_CHECKING:
    from longseq.model.range import TrainingRange
    from longseq.tasks.summarize.classes import Classifier

PIECE = 1 << 16
"""Letters or values read back at once."""


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What is wanted besides; each but the first and the range needs the letters a second time, from a file on disk."""

    vectors: bool = False
    """Of windows, by the model."""
    base_bits: bool = False
    """Of each base, by the model."""
    letters: bool = False
    """To be read again by who takes the summaries."""
    quotes: bool = False
    """Letters of the most surprising windows."""
    representatives: int = 3
    """Windows of a record that stand for the others; by vectors."""
    training_range: TrainingRange | None = None
    """Of the model."""
    classifier: Classifier | None = None
    genes: GeneFinder | None = None

    @property
    def wanted(self) -> Wanted:
        again = self.letters or self.classifier is not None or self.genes is not None
        return Wanted(letters=again, quotes=self.quotes, vectors=self.vectors, base_bits=self.base_bits)


def class_calls(extras: Extras, scans: Sequence[Scan]) -> list[ClassCall | None]:
    """Of records whose letters were kept; None each without a classifier."""
    if extras.classifier is None:
        return [None] * len(scans)
    again = (replace(scan.record, pieces=letters_of(scan)(scan.start, scan.end)) for scan in scans)
    return list(extras.classifier.calls(again))


def findings(
    extras: Extras,
    scan: Scan,
    windows: WindowColumns | None,
    window: int,
    classes: ClassCall | None,
    pools: Pools | None,
) -> tuple[Findings, WindowVectors | None]:
    """What is found in one record, and the vectors of its windows; `pools` is what made those of the scan."""
    found = Findings(
        terminal_repeat=scan.terminal_repeat,
        telomeres=scan.telomeres,
        markov_bits=scan.markov_bits,
        classes=classes,
    )
    if extras.genes is not None and scan.composition.length <= LONGEST:
        letters = b"".join(letters_of(scan)(scan.start, scan.end))
        found = replace(found, genes=extras.genes.genes(letters))
    if windows is None or scan.forward is None:
        return found, None
    acgt = np.stack([windows.a, windows.c, windows.g, windows.t], 1)
    flag, share = novelty(acgt, windows.bits, window, extras.training_range)
    found = replace(found, novelty=flag, out_of_range=share)
    if pools is None:
        return found, None
    full = 2 * scan.forward.bases >= window  # a vector of few bases stands for nothing
    vectors = pools.vectors(scan.kept.pools, windows.start, windows.end)
    enough = int(np.count_nonzero(full))
    chosen = representatives(lambda: picked(vectors.blocks(), full), enough, extras.representatives)
    return replace(found, representatives=chosen), vectors


def letters_of(scan: Scan) -> Callable[[int, int], Iterator[bytes]]:
    """The letters `[start, end)` of what was read of a record, in pieces."""

    def pieces(start: int, end: int) -> Iterator[bytes]:
        assert scan.kept.letters is not None
        return scan.kept.letters.pieces(start - scan.start, end - scan.start, PIECE)

    return pieces


def quotes_of(scan: Scan, windows: Sequence[SurprisingWindow]) -> tuple[str, ...]:
    """The first letters of each window."""
    letters = letters_of(scan)
    ends = ((one.start, min(one.end, one.start + QUOTED)) for one in windows)
    return tuple(b"".join(letters(start, end)).decode() for start, end in ends)


def base_bits_of(scan: Scan) -> Callable[[], Iterator[np.ndarray]]:
    """Bits of each base, mean of the strands, in pieces."""

    def pieces() -> Iterator[np.ndarray]:
        for start in range(0, scan.composition.length, PIECE):
            end = min(start + PIECE, scan.composition.length)
            strands = [spool.read(start, end)[:, 0] for spool in scan.kept.base_bits]
            yield sum(strands[1:], strands[0]) / np.float32(len(strands))

    return pieces
