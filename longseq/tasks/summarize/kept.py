"""What the writers of `summarize` are told, kept by a shard, and told again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary
from longseq.results.findings import VectorBlock, WindowVectors
from longseq.results.source import SourceRow
from longseq.tasks.shards.gather import Batch
from longseq.tasks.shards.spool import Bulk, SpoolReader, SpoolWriter
from longseq.tasks.sources import Source
from longseq.tasks.summarize.files import Sink
from longseq.tasks.summarize.sieve import Sieve
from longseq.tasks.summarize.totals import TotalsCounter


class Began(NamedTuple):
    """What follows is of the input at this place."""

    number: int


class Vectors(NamedTuple):
    """Vectors of windows, laid aside block by block."""

    strand: str
    layer: str
    model: str
    width: int
    sizes: list[int]
    """Windows of each block."""
    start: Bulk
    end: Bulk
    vectors: Bulk


class Told(NamedTuple):
    """A record of DNA: what holds only until the next one is laid aside."""

    summary: RecordSummary
    vectors: Vectors | None
    base_bits: Bulk | None
    letters: Bulk | None


@dataclass(frozen=True)
class Sifted:
    """What a sieve knows of the records of an input that it let not through."""

    short: int
    short_len: int
    unread: np.ndarray
    """(R,) int64 lengths of those outside of the sample."""


KINDS = (Told, DocumentSummary, Began, Sifted)


class Keeper:
    """A sink that keeps what it is told in a shard's spool."""

    def __init__(self, spool: SpoolWriter):
        self._spool = spool

    def began(self, number: int) -> None:
        """What is told from now on is of the input at this place."""
        self._spool.put(Began(number))

    def sifted(self, sieve: Sieve) -> None:
        """The records of that input are over."""
        self._spool.put(Sifted(sieve.short, sieve.short_len, np.array(sieve.unread, np.int64)))

    def dna(self, summary: RecordSummary) -> None:
        row, keep = summary.row, self._spool.keep
        bits = None if summary.base_bits is None else keep(summary.base_bits(), np.float32)
        letters = None
        if summary.letters is not None:
            letters = keep(summary.letters(row.start, row.start + row.length))
        vectors = None if summary.vectors is None else self._vectors(summary.vectors)
        plain = replace(summary, vectors=None, base_bits=None, letters=None)
        self._spool.put(Told(plain, vectors, bits, letters))

    def document(self, summary: DocumentSummary) -> None:
        self._spool.put(summary)

    def _vectors(self, found: WindowVectors) -> Vectors:
        starts, ends, sizes = [], [], []

        def rows() -> Iterator[np.ndarray]:
            for block in found.blocks():
                starts.append(block.start)
                ends.append(block.end)
                sizes.append(len(block.start))
                yield block.vectors

        vectors = self._spool.keep(rows(), np.float32)
        start, end = self._spool.keep(starts, np.int64), self._spool.keep(ends, np.int64)
        return Vectors(found.strand, found.layer, found.model, found.width, sizes, start, end, vectors)


class Replay:
    """Tells the sinks of a whole run what its shards kept; then it knows the inputs as one process would."""

    def __init__(self, batch: Batch, sinks: Sequence[Sink], fraction: float):
        self._batch, self._sinks = batch, sinks
        self._counters: dict[int, TotalsCounter] = {}
        self._sieves: dict[int, Sieve] = {}
        self._digests: dict[int, hashlib._Hash] = {}
        self._fraction, self._now = fraction, -1

    def run(self) -> list[Source]:
        """The inputs, in order."""
        for spool, value in self._batch.frames(KINDS):
            if isinstance(value, Told):
                summary = _again(value, spool)
                self._counter().add(summary.row)
                self._digest(summary.row.digest)
                for sink in self._sinks:
                    sink.dna(summary)
            elif isinstance(value, DocumentSummary):
                self._digest(value.sha256)
                for sink in self._sinks:
                    sink.document(value)
            elif isinstance(value, Began):
                self._now = value.number
            else:
                self._sift(value)
        return self._batch.sources()

    def row(self, source: Source) -> SourceRow:
        """That of an input, with its digest and, of DNA, its totals."""
        digest, counter = self._digests.get(source.number), self._counters.get(source.number)
        totals = None if counter is None else counter.finish(self._sieves[source.number])
        return replace(source.row(), digest=None if digest is None else digest.hexdigest(), totals=totals)

    def _counter(self) -> TotalsCounter:
        if self._now not in self._counters:
            self._counters[self._now] = TotalsCounter()
            self._sieves[self._now] = Sieve(fraction=self._fraction)
        return self._counters[self._now]

    def _digest(self, digest: str) -> None:
        self._digests.setdefault(self._now, hashlib.sha256()).update(f"{digest}\n".encode())

    def _sift(self, value: Sifted) -> None:
        self._counter()
        sieve = self._sieves[self._now]
        sieve.short, sieve.short_len = sieve.short + value.short, sieve.short_len + value.short_len
        sieve.unread.frombytes(value.unread.tobytes())


def _again(told: Told, spool: SpoolReader) -> RecordSummary:
    """The summary as it was told first."""
    summary = told.summary
    if told.vectors is None and told.base_bits is None and told.letters is None:
        return summary
    return replace(
        summary,
        vectors=None if told.vectors is None else _vectors(told.vectors, spool),
        base_bits=None if told.base_bits is None else _pieces(told.base_bits, spool),
        letters=None if told.letters is None else _letters(told.letters, spool, summary.row.start),
    )


def _vectors(kept: Vectors, spool: SpoolReader) -> WindowVectors:
    def blocks() -> Iterator[VectorBlock]:
        at = 0
        for size in kept.sizes:
            start, end = (_some(spool, bulk, at, at + size) for bulk in (kept.start, kept.end))
            vectors = _some(spool, kept.vectors, at * kept.width, (at + size) * kept.width)
            yield VectorBlock(start, end, vectors.reshape(size, kept.width))
            at += size

    return WindowVectors(strand=kept.strand, layer=kept.layer, model=kept.model, width=kept.width, blocks=blocks)


def _some(spool: SpoolReader, bulk: Bulk, start: int, end: int) -> np.ndarray:
    found = [*spool.pieces(bulk, start, end, max(end - start, 1))]
    return found[0] if found else np.zeros(0, bulk.dtype)


def _pieces(bulk: Bulk, spool: SpoolReader) -> Callable[[], Iterator[np.ndarray]]:
    return lambda: spool.pieces(bulk)


def _letters(bulk: Bulk, spool: SpoolReader, first: int) -> Callable[[int, int], Iterator[bytes]]:
    return lambda start, end: (piece.tobytes() for piece in spool.pieces(bulk, start - first, end - first))
