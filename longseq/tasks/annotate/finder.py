"""Genes of the records of one genome: what the model says of each base, and what the genome's own genes say then.

First the open reading frames are scored by the model alone, and the best ones that can stand together are taken. Where
that gives enough, the surest teach codon statistics and starts of this genome, as Prodigal does (Hyatt et al. 2010);
with those all frames are scored anew, a few times. Letters and log odds wait on disk between the rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from longseq.formats.genetic_code import GeneticCode
from longseq.records import reverse_complement
from longseq.streaming.rows import RowSpool
from longseq.tasks.annotate import starts
from longseq.tasks.annotate.candidates import Candidates, candidates, genes, neighbours, sums, windows
from longseq.tasks.annotate.coding import Coding, codes, of_codon
from longseq.tasks.annotate.frames import BLOCK, Sums, by_frame, columns, log_odds
from longseq.tasks.annotate.genes import Gene, choose

if TYPE_CHECKING:
    from longseq.streaming.classes import Classified, ClassReader

AROUND = 8192
"""Bases of a circular record that are read again before its start and behind its end."""
ROUNDS = 4
"""Times that a genome's own genes are learned from."""
UNKNOWN_GAIN = -2.0
"""Log odds of any frame where a letter is none of A, C, G, T."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each thing counts, chosen on contigs that are neither learned from nor tested on."""

    alone: float = 0.08
    """Of a nat of the model's log odds, before anything is learned: neighbouring bases say much the same."""
    alone_clip: float = 4.0
    """Largest log odds of a base either way, then."""
    alone_cost: float = 18.0
    """Nats that a gene has to bring, then."""
    floor: float = 22.0
    """Nats beyond these of a gene that is given where nothing was learned in the end, as in random sequence."""
    model: float = 0.04
    """Of a nat of the model's log odds, beside what was learned."""
    clip: float = 1.5
    """Largest log odds of a base either way, then: what the genome's own genes say overrules a doubt."""
    rare: float = 1.9
    """Nats by which a reading frame is unlikely where nothing is known: they are no evidence against it."""
    coding: float = 2.0
    """Of a nat of codon statistics."""
    start: float = 1.0
    """Of a nat of what stands at a start."""
    operon: float = 4.0
    """Nats for a neighbour as near as in an operon, on either side."""
    cost: float = 7.0
    """Nats that a gene has to bring, then."""
    sure: float = 10.0
    """Nats of a gene that is learned from."""
    enough: int = 30_000
    """Bases of such genes, without which nothing is learned from them."""
    most: int = 8
    """Starts of an open reading frame that are weighed against one another."""


class Kept(NamedTuple):
    """A record that waits on disk."""

    name: str
    first: int
    """Row of the spools."""
    length: int
    start: int
    """Where it begins in the whole record."""
    circular: bool


class Found(NamedTuple):
    name: str
    letters: bytes
    start: int
    """Where the letters begin in the whole record; the places of genes count from there."""
    circular: bool
    genes: list[Gene]
    """Sorted by start."""
    probabilities: list[float]
    """Mean probability of each gene's reading frame over its bases."""


def surrounded(letters: bytes, circular: bool) -> Iterator[bytes]:
    """What the reader is given of a record: of a circular one some of its end before it, and of its start behind it."""
    around = min(AROUND, len(letters)) if circular else 0
    yield letters[len(letters) - around :]
    yield letters
    yield letters[:around]


class GeneChooser:
    """Gives the genes of records of which two spools hold what was read; a context that holds the files between."""

    def __init__(
        self,
        code: GeneticCode,
        *,
        shortest: int = 90,
        weights: Weights | None = None,
        folder: str | Path | None = None,
        spools: tuple[RowSpool, RowSpool] | None = None,
    ):
        """`shortest` bases of a gene, stop codon included; `folder` is that of the spools, None: where TMPDIR points;
        `spools` are some that stay, of letters (1, uint8) and of log odds (6, float16), which the caller closes."""
        self._code, self._shortest = code, shortest
        self._weights, self._folder = weights or Weights(), folder
        self._own = spools is None
        self._letters, self._odds = spools or (RowSpool(1, np.uint8, folder), RowSpool(6, np.float16, folder))
        self._kept: list[Kept] = []
        self._rows = 0
        self.learned = 0
        """Bases of the genome's own genes that were learned from, once `find` is done; 0: too few."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self._letters.close()
            self._odds.close()

    def recall(self, name: str, length: int, *, start: int, circular: bool) -> None:
        """The next record of which the spools hold what an earlier finder was told."""
        self._kept.append(Kept(name, self._rows, length, start, circular))
        self._rows += length

    def find(self, *, mixed: bool = False) -> Iterator[Found]:
        """The genes of each record, in order; `mixed`: they are not of one genome, and nothing is learned from them."""
        learned: Learned | None = None
        self.learned = 0
        if not mixed:
            for _ in range(ROUNDS):
                more = Learned()
                for kept in self._kept:
                    more.learn(*self._scored(kept, learned), self._weights.sure)
                if more.coding.bases < self._weights.enough:
                    break
                more.settle()
                learned, self.learned = more, more.coding.bases
        for kept in self._kept:
            letters, _, chosen, _, _ = self._scored(kept, learned)
            if learned is None:
                chosen = [gene for gene in chosen if gene.score >= self._weights.floor]
            yield Found(
                kept.name, letters, kept.start, kept.circular, chosen, [self._mean(kept, gene) for gene in chosen]
            )

    def _scored(self, kept: Kept, learned: Learned | None) -> tuple[bytes, Kept, list[Gene], Candidates, np.ndarray]:
        """Letters, genes, and all candidates of a record."""
        weights = self._weights
        letters = self._letters.read(kept.first, kept.first + kept.length).tobytes()
        found = candidates(letters, self._code, shortest=self._shortest, circular=kept.circular)
        digits = codes(letters)
        with Sums(self._folder) as of_frames:
            for start in range(0, kept.length, BLOCK):
                end = min(start + BLOCK, kept.length)
                odds = self._odds.read(kept.first + start, kept.first + end).astype(np.float32)
                if learned:
                    gains = weights.model * np.clip(odds + weights.rare, -weights.clip, weights.clip)
                    gains += weights.coding * of_codon(learned.table, digits, start, end)
                else:
                    gains = weights.alone * np.clip(odds, -weights.alone_clip, weights.alone_clip)
                of_frames.add(by_frame(gains, start))
            scores = sums(found, of_frames) - (weights.cost if learned else weights.alone_cost)
        begun = np.flatnonzero(~found.open_begin)
        around = windows(found, begun, digits, circular=kept.circular)
        scores[begun] += weights.start * starts.score(learned.starts if learned else USUAL, around)
        if learned:
            scores += weights.operon * neighbours(found, learned.genes[kept])
        length = kept.length if kept.circular else None
        chosen = choose(genes(found, scores, most=weights.most), length=length)
        return letters, kept, chosen, found, digits

    def _mean(self, kept: Kept, gene: Gene) -> float:
        total, anchor = 0.0, gene.end if gene.strand == "-" else gene.start
        for low, high, shift in ((gene.start, min(gene.end, kept.length), 0), (kept.length, gene.end, kept.length)):
            if low < high:
                start = low - shift
                odds = self._odds.read(kept.first + start, kept.first + high - shift).astype(np.float64)
                column = (anchor - shift) % 3 + (3 if gene.strand == "-" else 0)
                total += float((1 / (1 + np.exp(-by_frame(odds, start)[:, column]))).sum())
        return total / (gene.end - gene.start)


class GeneFinder(GeneChooser):
    """Takes records one by one, then gives their genes."""

    def __init__(self, reader: ClassReader, code: GeneticCode, **options: Any):
        """`options` are those of `GeneChooser`.

        Raises:
            CheckpointError: a model of other classes than the positions in codons of both strands.
        """
        self._columns = columns(reader.labels, reader.checkpoint.name)
        self._reader = reader
        super().__init__(code, **options)

    def add(self, name: str, letters: bytes, *, circular: bool = False) -> None:
        """Read one record."""
        for _ in self.take(name, letters, self._reader(surrounded(letters, circular)), circular=circular):
            pass

    def take(
        self, name: str, letters: bytes, parts: Iterable[Classified], *, start: int = 0, circular: bool = False
    ) -> Iterator[int]:
        """What the reader says of a `surrounded` record; gives the bases of each part as it passes.

        `start` is where the letters begin in the whole record.
        """
        at = -min(AROUND, len(letters)) if circular else 0
        for ids, probabilities in parts:
            low, high = max(-at, 0), min(len(letters) - at, len(ids))
            if low < high:
                odds = log_odds(probabilities[low:high, self._columns])
                odds[ids[low:high] > 3] = UNKNOWN_GAIN
                self._odds.write(self._rows + at + low, odds)
                yield high - low
            at += len(ids)
        self._letters.write(self._rows, np.frombuffer(letters, np.uint8)[:, None])
        self.recall(name, len(letters), start=start, circular=circular)


def _usual() -> tuple[np.ndarray, np.ndarray]:
    shares = starts.usual_codons()
    return np.log(shares / shares.max()), np.zeros((starts.BEFORE, starts.CODONS))


USUAL = _usual()
"""What starts say before anything is learned."""


class Learned:
    """What a genome's surest genes taught."""

    def __init__(self) -> None:
        self.coding, self._begins = Coding(), starts.Starts()
        self.table = np.zeros((3, 0))
        self.starts = USUAL
        self.genes: dict[Kept, list[Gene]] = {}
        """Of each record, those that were learned from."""

    def learn(
        self, letters: bytes, kept: Kept, chosen: list[Gene], found: Candidates, digits: np.ndarray, sure: float
    ) -> None:
        """From one record: its letters, and its genes of a score of `sure` at least that lie in it whole."""
        self.coding.learn(digits)
        taken = [gene for gene in chosen if gene.score >= sure and gene.end <= kept.length and not gene.open_begin]
        self.genes[kept] = taken
        for gene in taken:
            piece = letters[gene.start : gene.end]
            self.coding.learn_gene(codes(piece if gene.strand == "+" else reverse_complement(piece)))
        places = {(gene.start, gene.end, gene.strand == "-") for gene in taken}
        ends = {(minus, start if minus else end) for start, end, minus in places}
        # Of the same reading frames: begins that were taken, and those passed over.
        own: list[int] = []
        others: list[int] = []
        for i, (start, end, minus) in enumerate(
            zip(found.start.tolist(), found.end.tolist(), found.minus.tolist(), strict=True)
        ):
            if (minus, start if minus else end) in ends and not found.open_begin[i]:
                (own if (start, end, minus) in places else others).append(i)
        for which, some in ((starts.TAKEN, own), (starts.PASSED, others)):
            around = windows(found, np.array(some, np.int64), digits, circular=kept.circular)
            self._begins.learn(around, which)

    def settle(self) -> None:
        """Counts to scores."""
        self.table, self.starts = self.coding.table(), self._begins.tables()
