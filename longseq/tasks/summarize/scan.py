"""One walk over the letters of a record, and one over its reverse complement where a model reads both strands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.errors import InputError, UsageError
from longseq.log import Progress, Spot
from longseq.metrics.nulls import Nulls
from longseq.records import Record
from longseq.results.findings import Telomere, TerminalRepeat
from longseq.tasks.summarize.bits import BitsMeter, Surprisal
from longseq.tasks.summarize.composition import Composition, CompositionCounter
from longseq.tasks.summarize.ends import EndsKeeper, terminal_repeat
from longseq.tasks.summarize.hidden import Pools
from longseq.tasks.summarize.quality import Quality, summarize_quality
from longseq.tasks.summarize.telomeres import telomeres
from longseq.tasks.summarize.windows import WindowMeter
from longseq.tokens.spool import LetterSpool

if TYPE_CHECKING:
    from longseq.streaming.rows import RowSpool
    from longseq.tasks.embed.pool import Pooled

GRID = 10_000
"""Bases of which a model's bits are added up together where no windows are asked for."""
STEP = 1 << 14
"""Bases read at once from the other strand."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What of a record is kept on disk until its summary is made."""

    letters: bool = False
    """As they came."""
    quotes: bool = False
    """Letters of records that have more than one window, where a model reads them."""
    vectors: bool = False
    """Of windows, from the model's hidden states."""
    base_bits: bool = False
    """Of each base."""


@dataclass(frozen=True)
class Bits:
    """Sums and bases a window of one strand, in the record's order."""

    sums: np.ndarray
    bases: np.ndarray


@dataclass
class Kept:
    """What of a record lies on disk."""

    letters: LetterSpool | None = None
    pools: list[Pooled] = field(default_factory=list)
    """Of windows, of the strands that are read, forwards first."""
    base_bits: list[RowSpool] = field(default_factory=list)
    """The same of bases."""

    def close(self) -> None:
        """Give it back."""
        for one in (self.letters, *self.pools, *self.base_bits):
            if one is not None:
                one.close()


@dataclass(frozen=True)
class Scan:
    """A record after its letters have passed."""

    record: Record
    composition: Composition
    quality: Quality | None
    meter: WindowMeter | None
    forward: Bits | None
    reverse: Bits | None
    terminal_repeat: TerminalRepeat | None
    telomeres: tuple[Telomere, ...]
    markov_bits: Mapping[str, float]
    kept: Kept

    @property
    def start(self) -> int:
        """First base, more than 0 in a part cut from a record."""
        return int(self.record.notes.get("offset", 0))

    @property
    def end(self) -> int:
        return self.start + self.composition.length


class _Strands:
    """A record on its way: its letters are counted as they pass, and what the model says of them comes in later."""

    def __init__(self, record: Record, window: int, *, read: bool, spool: LetterSpool | None):
        self.record, self.window, self.kept = record, window, Kept(spool)
        # Reads of a sequencer are pieces of molecules; a part cut out has no ends.
        self.ends = EndsKeeper() if record.quality is None and "offset" not in record.notes else None
        self.nulls = Nulls() if read else None
        self.counter = CompositionCounter()
        self.meter = WindowMeter(window) if window else None
        self.forward: Bits | None = None
        self.reverse: Bits | None = None
        self.length = 0
        self.whole = False

    def letters(self) -> Iterator[bytes]:
        for piece in self.record.pieces:
            if not isinstance(piece, bytes):
                raise UsageError(where=self.record.where, expected="a record of DNA", found=f"a {self.record.kind}")
            self.counter.push(piece)
            if self.meter is not None:
                self.meter.push(piece)
            if self.ends is not None:
                self.ends.push(piece)
            if self.nulls is not None:
                self.nulls.push_letters(piece)
            if self.kept.letters is not None:
                self.kept.letters.append(piece)
            self.length += len(piece)
            yield piece
        self.whole = True

    def scan(self, wanted: Wanted) -> Scan:
        record = self.record
        wants = wanted.letters or (wanted.quotes and self.nulls is not None and self.length > self.window > 0)
        if self.kept.letters is not None and not wants:
            self.kept.letters.close()
            self.kept.letters = None
        head, tail = (b"", b"") if self.ends is None else self.ends.finish()
        if record.truncated:
            tail = b""  # its end was not seen
        return Scan(
            record=record,
            composition=self.counter.finish(),
            quality=None if record.quality is None else summarize_quality(record.quality, record.where),
            meter=self.meter,
            forward=self.forward,
            reverse=self.reverse,
            terminal_repeat=terminal_repeat(head, tail, self.length),
            telomeres=telomeres(head, tail),
            markov_bits={} if self.nulls is None else self.nulls.finish(),
            kept=self.kept,
        )


class Scanner:
    """Walks the letters of each record once, twice where the other strand is read."""

    def __init__(
        self,
        window: int,
        surprisal: Surprisal | None,
        both: bool,
        progress: Progress,
        spool_folder: str | Path | None,
        wanted: Wanted,
    ):
        self._window, self._surprisal, self._both, self._wanted = window, surprisal, both, wanted
        self._progress, self._spool_folder = progress, spool_folder
        self.pools = Pools(surprisal, window) if wanted.vectors and surprisal is not None and window else None
        """Where vectors of windows are made."""

    def scans(self, records: Iterable[Record]) -> Iterator[tuple[Record, Scan | InputError]]:
        """Each record with its scan, or with the fault that ended it, in input order."""
        read = self._counted(records) if self._surprisal is None else self._read(self._surprisal, records)
        for strands, error in read:
            found: Scan | InputError
            try:
                found = strands.scan(self._wanted) if error is None else error
            except InputError as fault:
                found = fault
            if isinstance(found, InputError):
                strands.kept.close()
            yield strands.record, found

    def _counted(self, records: Iterable[Record]) -> Iterator[tuple[_Strands, InputError | None]]:
        for record in records:
            strands, fault, spot = self._strands(record), None, Spot(record.id, record.length)
            try:
                for piece in strands.letters():
                    self._progress.advance(len(piece), record=spot.on(len(piece)))
            except InputError as error:
                fault = error
            yield strands, fault

    def _read(self, model: Surprisal, records: Iterable[Record]) -> Iterator[tuple[_Strands, InputError | None]]:
        grid = self._window or GRID
        if self.pools is None:
            tracks = model.many(self._walks(records))
        else:
            tracks = model.many(self._walks(records), watch=self._watch)
        for (strands, reverse), track in tracks:
            spool = self._bits_spool(strands)
            at = strands.length if reverse else 0
            spot = Spot(strands.record.id, strands.length if reverse else strands.record.length)
            meter = BitsMeter(grid, strands.length % grid or grid) if reverse else BitsMeter(grid)
            try:
                for scored in track:
                    meter.push(scored.bits)
                    if spool is not None and reverse:
                        at -= len(scored.bits)
                        spool.write(at, scored.bits[::-1, None])
                    elif spool is not None:
                        spool.write(at, scored.bits[:, None])
                        at += len(scored.bits)
                    self._progress.advance(len(scored.bits), record=spot.on(len(scored.bits)))
            except InputError as error:
                yield strands, error
                continue
            if self.pools is not None:
                strands.kept.pools[1 if reverse else 0].finish()
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
            strands = self._strands(record)
            yield (strands, False), strands.letters()
            if self._both and strands.whole and strands.kept.letters is not None:
                yield (strands, True), strands.kept.letters.reversed_complement_pieces(STEP)

    def _strands(self, record: Record) -> _Strands:
        read = self._surprisal is not None
        kept = self._wanted.letters or (read and (self._both or self._wanted.quotes))
        return _Strands(record, self._window, read=read, spool=LetterSpool(self._spool_folder) if kept else None)

    def _watch(self, key: tuple[_Strands, bool]) -> Callable[[np.ndarray, Any], None]:
        strands, reverse = key
        assert self.pools is not None
        strands.kept.pools.append(self.pools.pool(strands.length if reverse else None))
        return strands.kept.pools[-1].take

    def _bits_spool(self, strands: _Strands) -> RowSpool | None:
        if not self._wanted.base_bits:
            return None
        from longseq.streaming.rows import RowSpool

        strands.kept.base_bits.append(RowSpool(1, np.float32, self._spool_folder))
        return strands.kept.base_bits[-1]
