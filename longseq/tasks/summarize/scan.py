"""One walk over the letters of a record, and one over its reverse complement where a model reads both strands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longseq.errors import InputError, UsageError
from longseq.log import Progress
from longseq.records import Record
from longseq.tasks.summarize.bits import BitsMeter, Surprisal
from longseq.tasks.summarize.composition import Composition, CompositionCounter
from longseq.tasks.summarize.quality import Quality, summarize_quality
from longseq.tasks.summarize.windows import WindowMeter
from longseq.tokens.spool import LetterSpool

GRID = 10_000
"""Bases of which a model's bits are added up together where no windows are asked for."""
STEP = 1 << 14
"""Bases read at once from the other strand."""


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


class _Strands:
    """A record on its way: its letters are counted as they pass, and what the model says of them comes in later."""

    def __init__(self, record: Record, window: int):
        self.record = record
        self.counter = CompositionCounter()
        self.meter = WindowMeter(window) if window else None
        self.forward: Bits | None = None
        self.reverse: Bits | None = None
        self.length = 0
        self.whole = False

    def letters(self, spool: LetterSpool | None = None) -> Iterator[bytes]:
        for piece in self.record.pieces:
            if not isinstance(piece, bytes):
                raise UsageError(where=self.record.where, expected="a record of DNA", found=f"a {self.record.kind}")
            self.counter.push(piece)
            if self.meter is not None:
                self.meter.push(piece)
            if spool is not None:
                spool.append(piece)
            self.length += len(piece)
            yield piece
        self.whole = True

    def scan(self) -> Scan:
        record = self.record
        composition = self.counter.finish()
        quality = None if record.quality is None else summarize_quality(record.quality, record.where)
        return Scan(record, composition, quality, self.meter, self.forward, self.reverse)


class Scanner:
    """Walks the letters of each record once, twice where the other strand is read."""

    def __init__(
        self,
        window: int,
        surprisal: Surprisal | None,
        both: bool,
        progress: Progress,
        spool_folder: str | Path | None,
    ):
        self._window, self._surprisal, self._both = window, surprisal, both
        self._progress, self._spool_folder = progress, spool_folder

    def scans(self, records: Iterable[Record]) -> Iterator[tuple[Record, Scan | InputError]]:
        """Each record with its scan, or with the fault that ended it, in input order."""
        read = self._counted(records) if self._surprisal is None else self._read(self._surprisal, records)
        for strands, error in read:
            found: Scan | InputError
            try:
                found = strands.scan() if error is None else error
            except InputError as fault:
                found = fault
            yield strands.record, found

    def _counted(self, records: Iterable[Record]) -> Iterator[tuple[_Strands, InputError | None]]:
        for record in records:
            strands, fault = _Strands(record, self._window), None
            try:
                for piece in strands.letters():
                    self._progress.advance(len(piece))
            except InputError as error:
                fault = error
            yield strands, fault

    def _read(self, model: Surprisal, records: Iterable[Record]) -> Iterator[tuple[_Strands, InputError | None]]:
        grid = self._window or GRID
        for (strands, reverse), track in model.many(self._walks(records)):
            meter = BitsMeter(grid, strands.length % grid or grid) if reverse else BitsMeter(grid)
            try:
                for scored in track:
                    meter.push(scored.bits)
                    self._progress.advance(len(scored.bits))
            except InputError as error:
                yield strands, error
                continue
            bits = Bits(*meter.finish())
            if reverse:
                strands.reverse = Bits(bits.sums[::-1], bits.bases[::-1])
            else:
                strands.forward = bits
            if reverse or not self._both:
                yield strands, None

    def _walks(self, records: Iterable[Record]) -> Iterator[tuple[tuple[_Strands, bool], Iterator[bytes]]]:
        """The letters of each strand; those of the reverse one exist once the forward ones were walked."""
        for record in records:
            strands = _Strands(record, self._window)
            if not self._both:
                yield (strands, False), strands.letters()
                continue
            with LetterSpool(self._spool_folder) as spool:
                yield (strands, False), strands.letters(spool)
                if strands.whole:
                    yield (strands, True), spool.reversed_complement_pieces(STEP)
