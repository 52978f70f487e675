"""One walk over the letters of a record, and one over its reverse complement where a model reads both strands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longseq.errors import UsageError
from longseq.log import Progress
from longseq.records import Record
from longseq.tasks.summarize.bits import BitsMeter, SurprisalFactory
from longseq.tasks.summarize.composition import Composition, CompositionCounter
from longseq.tasks.summarize.quality import Quality, summarize_quality
from longseq.tasks.summarize.windows import WindowMeter
from longseq.tokens.spool import LetterSpool

GRID = 10_000
"""Bases of which a model's bits are added up together where no windows are asked for."""
STEP = 1 << 14
"""Bases handed to a model between two reports of progress."""


@dataclass(frozen=True)
class Bits:
    """Sums and bases a window of one strand, in the record's order."""

    sums: np.ndarray
    bases: np.ndarray


@dataclass(frozen=True)
class Scan:
    """A record after its letters have passed."""

    record: Record
    composition: Composition
    quality: Quality | None
    meter: WindowMeter | None
    forward: Bits | None
    reverse: Bits | None

    @property
    def start(self) -> int:
        """First base, more than 0 in a part cut from a record."""
        return int(self.record.notes.get("offset", 0))


class Scanner:
    """Walks the letters of a record once, twice where the other strand is read."""

    def __init__(
        self,
        window: int,
        surprisal: SurprisalFactory | None,
        both: bool,
        progress: Progress,
        spool_folder: str | Path | None,
    ):
        self._window, self._surprisal, self._both = window, surprisal, both
        self._progress, self._spool_folder = progress, spool_folder

    def scan(self, record: Record) -> Scan:
        counter, meter = CompositionCounter(), WindowMeter(self._window) if self._window else None
        if self._surprisal is None:
            for piece in self._counted(record, counter, meter):
                self._progress.advance(len(piece))
            forward = reverse = None
        else:
            forward, reverse = self._read(record, counter, meter)
        composition = counter.finish()
        quality = None if record.quality is None else summarize_quality(record.quality, record.where)
        return Scan(record, composition, quality, meter, forward, reverse)

    def _read(self, record: Record, counter: CompositionCounter, meter: WindowMeter | None) -> tuple[Bits, Bits | None]:
        if not self._both:
            return self._strand(self._counted(record, counter, meter), None), None
        with LetterSpool(self._spool_folder) as spool:

            def kept() -> Iterator[bytes]:
                for piece in self._counted(record, counter, meter):
                    spool.append(piece)
                    yield piece

            forward = self._strand(kept(), None)
            grid = self._window or GRID
            backwards = self._strand(spool.reversed_complement_pieces(STEP), len(spool) % grid or grid)
        return forward, Bits(backwards.sums[::-1], backwards.bases[::-1])

    def _counted(self, record: Record, counter: CompositionCounter, meter: WindowMeter | None) -> Iterator[bytes]:
        for piece in record.pieces:
            if not isinstance(piece, bytes):
                raise UsageError(where=record.where, expected="a record of DNA", found=f"a {record.kind}")
            counter.push(piece)
            if meter is not None:
                meter.push(piece)
            yield piece

    def _strand(self, pieces: Iterable[bytes], first: int | None) -> Bits:
        assert self._surprisal is not None
        reader, meter = self._surprisal(), BitsMeter(self._window or GRID, first)
        for piece in pieces:
            for at in range(0, len(piece), STEP):
                step = piece[at : at + STEP]
                meter.push(reader.push(step))
                self._progress.advance(len(step))
        meter.push(reader.finish())
        return Bits(*meter.finish())
