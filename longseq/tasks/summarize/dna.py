"""Summaries of DNA records: one pass over the letters, and one over the reverse complement where a model reads it.

Nothing is kept of a record but a few numbers a window; letters for the reverse strand wait on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from longseq.config import require
from longseq.errors import InputError
from longseq.log import NullProgress, Progress
from longseq.records import Record
from longseq.results.dna import (
    CumulativeSkew,
    RecordSummary,
    Region,
    SequenceRow,
    SurprisingWindow,
    WindowColumns,
)
from longseq.results.findings import Findings, WindowVectors
from longseq.tasks.summarize.bits import Surprisal, surprising_windows
from longseq.tasks.summarize.extras import Extras, base_bits_of, class_calls, findings, letters_of, quotes_of
from longseq.tasks.summarize.hidden import Pools
from longseq.tasks.summarize.regions import find_regions
from longseq.tasks.summarize.scan import Bits, Scan, Scanner
from longseq.tasks.summarize.skew import cumulative_skew
from longseq.tasks.summarize.windows import BATCH, COUNTS, columns, conditional_entropy, entropy, measure

WINDOW = 10_000
"""Bases a window, unless told otherwise."""
SHORTEST_WINDOW, LONGEST_WINDOW = 100, 1_000_000
"""Shorter windows say little, longer ones would be held in memory."""

Strands = Literal["both", "forward"]


def summarize_records(
    records: Iterable[Record],
    *,
    window: int = WINDOW,
    surprisal: Surprisal | None = None,
    strands: Strands = "both",
    top: int = 5,
    progress: Progress | None = None,
    spool_folder: str | Path | None = None,
    on_failure: Callable[[Record, InputError], None] | None = None,
    extras: Extras | None = None,
) -> Iterator[RecordSummary]:
    """A summary of each DNA record, in input order; they may come a few records late.

    Args:
        records: What a reader of `longseq.formats` gives, or a part cut from one; each is walked once.
        window: Bases a window, 100 to 1,000,000; 0 leaves windows, regions and skew out.
        surprisal: Reads bits a base of each record and strand, ahead of what is asked for; None leaves them out.
        strands: With a model, read the reverse complement as well, or not.
        top: Most surprising windows kept a record.
        progress: Told of every base read, on each strand; started and finished by the caller.
        spool_folder: Where letters for the reverse strand wait; None is the system's place for temporary files.
        on_failure: Told of a record that cannot be read to its end, which then has no summary; None raises.
        extras: What is looked for besides; None is nothing.

    Raises:
        ConfigError: a window or strands out of range.
        InputError: a fault in a record.
    """
    require(
        window == 0 or SHORTEST_WINDOW <= window <= LONGEST_WINDOW, "window", window, "0, or 100 to 1,000,000 bases"
    )
    require(strands in ("both", "forward"), "strands", strands, "'both' or 'forward'")
    require(top >= 0, "top", top, ">= 0")
    extras = extras or Extras()
    scanner = Scanner(window, surprisal, strands == "both", progress or NullProgress(), spool_folder, extras.wanted)
    return _walk(records, scanner, _Reporter(window, top, extras, scanner.pools), on_failure)


def _walk(
    records: Iterable[Record],
    scanner: Scanner,
    report: _Reporter,
    on_failure: Callable[[Record, InputError], None] | None,
) -> Iterator[RecordSummary]:
    try:
        for record, found in scanner.scans(records):
            if isinstance(found, Scan):
                yield from report.add(found)
            elif on_failure is None:
                raise found
            else:
                on_failure(record, found)
    except InputError:
        yield from report.flush()  # what was read before the fault is whole
        raise
    yield from report.flush()


class _Reporter:
    """Makes summaries; records shorter than a window are measured many together."""

    def __init__(self, window: int, top: int, extras: Extras, pools: Pools | None):
        self._window, self._top, self._extras, self._pools = window, top, extras, pools
        self._waiting: list[Scan] = []
        self._size = 0

    def add(self, scan: Scan) -> Iterator[RecordSummary]:
        if scan.meter is not None and scan.composition.length > self._window:
            yield from self.flush()
            counts, triplets = scan.meter.finish()
            yield from self._summaries([scan], counts, triplets[None])
            return
        self._waiting.append(scan)
        self._size += scan.composition.length + 64  # empty records count for something, too
        if self._size >= BATCH:
            yield from self.flush()

    def flush(self) -> Iterator[RecordSummary]:
        """What waits, in input order."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        lengths = np.array([scan.composition.length for scan in waiting], np.int64)
        triplets = np.zeros((len(waiting), 64), np.int64)
        counts = np.empty(0, COUNTS)
        if self._window and lengths.any():
            letters = b"".join(scan.meter.unmeasured() for scan in waiting if scan.meter is not None)
            counts, triplets[lengths > 0] = measure(letters, lengths[lengths > 0])
        yield from self._summaries(waiting, counts, triplets)

    def _summaries(self, scans: list[Scan], counts: np.ndarray, triplets: np.ndarray) -> Iterator[RecordSummary]:
        """Of R records with (W,) COUNTS of windows in all and (R, 64) triplets."""
        letters = np.array([[scan.composition.letters.get(base, 0) for base in "ACGT"] for scan in scans])
        order0 = entropy(letters.reshape(-1, 4)).tolist()
        order2 = conditional_entropy(triplets).tolist()
        windows = self._columns(scans, counts) if self._window else None
        classes = class_calls(self._extras, scans)
        at = 0
        for i, scan in enumerate(scans):
            until = at + self._windows(scan)
            part = None if windows is None else windows.part(at, until)
            known = findings(self._extras, scan, part, self._window, classes[i], self._pools)
            try:
                yield self._summary(scan, counts[at:until], part, _known(order0[i]), _known(order2[i]), *known)
            finally:
                scan.kept.close()
            at = until

    def _windows(self, scan: Scan) -> int:
        return -(-scan.composition.length // self._window) if self._window else 0

    def _columns(self, scans: list[Scan], counts: np.ndarray) -> WindowColumns:
        def joined(strands: list[Bits | None]) -> np.ndarray | None:
            read = [_mean(bits) for bits in strands if bits is not None]
            return np.concatenate(read) if read else None

        sizes = [self._windows(scan) for scan in scans]
        starts = [scan.start + self._window * np.arange(size) for scan, size in zip(scans, sizes, strict=True)]
        return columns(
            counts,
            start=np.concatenate([np.zeros(0, np.int64), *starts]),
            masked=np.repeat(np.array([scan.record.case_is_mask for scan in scans], bool), sizes),
            forward=joined([scan.forward for scan in scans]),
            reverse=joined([scan.reverse for scan in scans]),
        )

    def _summary(
        self,
        scan: Scan,
        counts: np.ndarray,
        windows: WindowColumns | None,
        order0: float | None,
        order2: float | None,
        found: Findings,
        vectors: WindowVectors | None,
    ) -> RecordSummary:
        record, letters, quality = scan.record, scan.composition, scan.quality
        regions: tuple[Region, ...] = ()
        skew: CumulativeSkew | None = None
        surprising: tuple[SurprisingWindow, ...] = ()
        if windows is not None:
            size = {"start": scan.start, "window": self._window, "length": letters.length}
            acgt = counts["acgt"]
            bits = None if scan.forward is None else windows.bits
            regions = find_regions(record.id, acgt, counts["pairs"], bits, **size)
            whole_circle = record.topology == "circular" and "offset" not in record.notes
            skew = cumulative_skew(acgt, circular=whole_circle, **size)
            if scan.forward is not None:
                surprising = surprising_windows(windows, scan.forward.bases, window=self._window, top=self._top)
        row = SequenceRow(
            file=record.source,
            index=record.index,
            id=record.id,
            description=record.description,
            start=scan.start,
            length=letters.length,
            letters=letters.letters,
            lower=letters.lower if record.case_is_mask else None,
            gaps=letters.gaps,
            longest_gap=letters.longest_gap,
            digest=letters.digest,
            topology=_topology(record, found),
            truncated=record.truncated,
            order0_bits=order0,
            order2_bits=order2,
            skew=skew,
            surprising=surprising,
            findings=found,
            notes=record.notes,
            q20_bases=quality and quality.q20_bases,
            q30_bases=quality and quality.q30_bases,
            expected_errors=quality and quality.expected_errors,
            bits_forward=_bits_per_base(scan.forward),
            bits_reverse=_bits_per_base(scan.reverse),
            bits_per_base=_bits_per_base(scan.forward, scan.reverse),
        )
        return RecordSummary(
            row=row,
            windows=windows,
            regions=regions,
            quotes=quotes_of(scan, surprising) if self._extras.quotes else (),
            vectors=vectors,
            base_bits=base_bits_of(scan) if scan.kept.base_bits else None,
            letters=letters_of(scan) if self._extras.letters else None,
        )


def _topology(record: Record, found: Findings) -> str:
    if record.topology:
        return f"declared {record.topology}"
    return "unknown" if found.terminal_repeat is None else "terminal repeat found"


def _mean(bits: Bits) -> np.ndarray:
    return np.divide(bits.sums, bits.bases, out=np.full(len(bits.sums), np.nan), where=bits.bases > 0)


def _bits_per_base(*strands: Bits | None) -> float | None:
    """Mean over the strands that were read, each weighted by its bases."""
    read = [strand for strand in strands if strand is not None]
    bases = sum(int(strand.bases.sum()) for strand in read)
    return sum(float(strand.sums.sum()) for strand in read) / bases if bases else None


def _known(value: float) -> float | None:
    return None if value != value else value
