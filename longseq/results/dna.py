"""What `summarize` says of DNA: a row a record, columns of windows, regions, and totals that rows add up to.

Percentages run from 0 to 100. Coordinates are bases of the record, 0-based and half-open. A figure that has no value
(the GC of an empty record, of a window of N) is None in a row and NaN in a column, and null in JSON.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from longseq.log import count
from longseq.records import Interval
from longseq.results.findings import Findings, WindowVectors
from longseq.results.frames import Framed

QUOTED = 10_000
"""Letters of a surprising window that are kept."""


@dataclass(frozen=True, kw_only=True)
class SurprisingWindow:
    """A window that the model found harder to predict than the rest of its record."""

    start: int
    end: int
    bits: float
    """Mean bits of the window's bases, over the strands read."""
    z: float | None
    """Standard deviations above the mean of the record's windows; None where they do not vary."""


@dataclass(frozen=True, kw_only=True)
class CumulativeSkew:
    """Excursion of the cumulative GC skew along a record, against windows in shuffled order."""

    amplitude: float
    """Highest minus lowest point of the running sum of G - C, its mean slope taken out, in bases."""
    null_mean: float
    """Mean amplitude over shuffled orders of the same windows."""
    p: float
    """(1 + shuffles at least as high) / (1 + shuffles)."""
    lowest: int
    """End of the window where the sum is lowest; in many bacteria near the origin of replication."""
    highest: int
    """End of the window where it is highest; in many bacteria near the terminus."""


@dataclass(frozen=True, kw_only=True)
class Region:
    """A stretch in which something stays as it is."""

    kind: Literal["composition", "bits"] = "composition"
    """What changes where it ends: GC and the words of bases, or the bits a base of a model."""
    interval: Interval
    gc: float | None
    """G + C in percent of A, C, G, T."""
    gc_skew: float | None
    """(G - C) / (G + C)."""
    bits: float | None = None
    """Mean bits a base; None without a model."""

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "record": self.interval.record,
            "start": self.interval.start,
            "end": self.interval.end,
            "gc": self.gc,
            "gc_skew": self.gc_skew,
            "bits": self.bits,
        }


@dataclass(frozen=True, kw_only=True)
class SequenceRow:
    """One DNA record, at full precision."""

    file: str
    """As the user named it; `-` is standard input."""
    index: int
    """Position in the file, 0-based."""
    id: str
    description: str = ""
    kind: str = "dna"
    start: int = 0
    """First base summarised; more than 0 only where a region was asked for."""
    length: int
    """Bases summarised."""
    unit: str = "bp"
    letters: Mapping[str, int]
    """Count of each code that occurs, upper case, U as T, in the order ACGTRYSWKMBDHVN."""
    lower: int | None
    """Letters in lower case; None where case is no mask (GenBank, EMBL)."""
    gaps: int
    """Runs of N, of any length."""
    longest_gap: int
    digest: str
    """GA4GH refget sequence identifier: `SQ.` and sha512t24u of the upper-case letters, U as T."""
    topology: str
    """`declared circular`, `declared linear`, `terminal repeat found` or `unknown`; never a guess."""
    truncated: bool = False
    """The file ended inside this record."""
    q20_bases: int | None = None
    """FASTQ: bases of Phred quality 20 or more."""
    q30_bases: int | None = None
    """FASTQ: bases of Phred quality 30 or more."""
    expected_errors: float | None = None
    """FASTQ: sum of the bases' error probabilities."""
    order0_bits: float | None = None
    """Entropy of A, C, G, T in the record, bits a base."""
    order2_bits: float | None = None
    """Entropy of a base given the two before it, fitted to the record itself, bits a base; None without windows."""
    skew: CumulativeSkew | None = None
    """Only for a long or circular record."""
    bits_forward: float | None = None
    """Mean bits a base of the model reading the record forward; None without a model."""
    bits_reverse: float | None = None
    """The same, reading the reverse complement."""
    bits_per_base: float | None = None
    """Mean over the strands read, each weighted by its bases."""
    surprising: tuple[SurprisingWindow, ...] = ()
    """Most surprising windows, highest bits first."""
    findings: Findings = field(default_factory=Findings)
    """At its ends, by models; its names stand beside the row's own in JSON."""
    notes: Mapping[str, str | int] = field(default_factory=dict)
    """What the reader found besides."""

    @property
    def bases(self) -> int:
        """A, C, G and T."""
        return called(self.letters)

    @property
    def gc(self) -> float | None:
        """G + C in percent of A, C, G, T (as QUAST)."""
        return percent(strong(self.letters), self.bases)

    @property
    def gc_of_length(self) -> float | None:
        """G + C in percent of all letters, N and the other codes included (as seqkit)."""
        return percent(strong(self.letters), self.length)

    @property
    def n(self) -> int:
        return self.letters.get("N", 0)

    @property
    def iupac(self) -> int:
        """Ambiguity codes other than N."""
        return self.length - self.bases - self.n

    @property
    def softmask(self) -> float | None:
        """Lower case in percent of all letters."""
        return None if self.lower is None else percent(self.lower, self.length)

    @property
    def q20(self) -> float | None:
        return None if self.q20_bases is None else percent(self.q20_bases, self.length)

    @property
    def q30(self) -> float | None:
        return None if self.q30_bases is None else percent(self.q30_bases, self.length)

    @property
    def average_quality(self) -> float | None:
        """Phred score of the mean error probability (not the mean of the Phred scores)."""
        return None if self.expected_errors is None else phred(self.expected_errors, self.length)

    def to_json(self) -> dict[str, Any]:
        """Every field, and the figures that follow from them."""
        derived = ("gc", "gc_of_length", "n", "iupac", "softmask", "q20", "q30", "average_quality")
        plain = dict(vars(self))
        plain["letters"], plain["notes"] = dict(self.letters), dict(self.notes)
        plain["skew"] = None if self.skew is None else asdict(self.skew)
        plain["surprising"] = [asdict(window) for window in self.surprising]
        del plain["findings"]
        return plain | self.findings.to_json() | {name: getattr(self, name) for name in derived}


@dataclass(frozen=True, kw_only=True)
class WindowColumns(Framed):
    """Arrays of W, one value a window; the windows tile what was summarised of the record."""

    start: np.ndarray
    """int64."""
    end: np.ndarray
    """int64."""
    a: np.ndarray
    """int32, as are c, g, t and n: letters of each kind."""
    c: np.ndarray
    g: np.ndarray
    t: np.ndarray
    n: np.ndarray
    gc: np.ndarray
    """float32, as all below, and NaN in a window without A, C, G, T: G + C in percent of A, C, G, T."""
    gc_skew: np.ndarray
    """(G - C) / (G + C)."""
    at_skew: np.ndarray
    """(A - T) / (A + T)."""
    entropy: np.ndarray
    """Shannon entropy of A, C, G, T in bits, at most 2."""
    entropy_triplet: np.ndarray
    """Shannon entropy of overlapping triplets in bits, at most 6."""
    cpg: np.ndarray
    """CpG observed / expected: CG · (A + C + G + T) / (C · G) (Gardiner-Garden and Frommer 1987)."""
    dust: np.ndarray
    """DUST score of 64-base tiles, mean (Morgulis et al. 2006); about 0.5 in random sequence, 31 at most."""
    low_complexity: np.ndarray
    """Percent of triplets that lie in tiles of DUST score above 2 (level 20 of dustmasker)."""
    softmask: np.ndarray
    """Lower case in percent of all letters; NaN where case is no mask."""
    bits_forward: np.ndarray
    """Mean bits a base, read forward; NaN without a model."""
    bits_reverse: np.ndarray
    """Mean bits a base, reading the reverse complement, at the base's own place."""
    bits: np.ndarray
    """Mean of the strands read."""

    def __len__(self) -> int:
        return len(self.start)

    def part(self, first: int, last: int) -> WindowColumns:
        """Windows `first` up to `last`, as views."""
        return WindowColumns(**{name: array[first:last] for name, array in self.columns().items()})

    def columns(self) -> dict[str, np.ndarray]:
        """Name to array, in the order of the fields."""
        return dict(vars(self))

    def _framed(self) -> dict[str, np.ndarray]:
        return self.columns()

    def __repr__(self) -> str:
        place = f", {self.start[0]:,} to {self.end[-1]:,}" if len(self) else ""
        return f"<{count(len(self), 'window')}{place}: {', '.join(self.columns())}>"

    def rows(self) -> Iterator[dict[str, int | float | None]]:
        """One mapping a window; NaN is None."""
        names, arrays = zip(*self.columns().items(), strict=True)
        for values in zip(*(array.tolist() for array in arrays), strict=True):
            yield {n: None if v != v else v for n, v in zip(names, values, strict=True)}


@dataclass(frozen=True, kw_only=True)
class RecordSummary:
    """Everything said of one record."""

    row: SequenceRow
    windows: WindowColumns | None
    """None where no windows were asked for."""
    regions: tuple[Region, ...]
    source: int = 0
    """Place of its input among those of the run, 0-based: a file may be named twice."""
    quotes: tuple[str, ...] = ()
    """Letters of the most surprising windows, in their order, the first `QUOTED` of each; none without a model."""
    vectors: WindowVectors | None = None
    """Of the windows; None where none were asked for. This and the two below hold until the next summary is."""
    base_bits: Callable[[], Iterator[np.ndarray]] | None = None
    """Bits of each base, mean of the strands read, float32 in pieces; None where they were not asked for."""
    letters: Callable[[int, int], Iterator[bytes]] | None = None
    """The letters `[start, end)` in pieces; None where they were not asked for."""

    def __repr__(self) -> str:
        row, facts = self.row, [f"{self.row.length:,} bp of DNA"]
        facts += [] if row.gc is None else [f"GC {row.gc:.2f} %"]
        facts += [] if row.bits_per_base is None else [f"{row.bits_per_base:.3f} bits a base"]
        facts += [] if self.windows is None else [count(len(self.windows), "window")]
        return f"<{row.id or row.file}: {', '.join(facts)}, {count(len(self.regions), 'region')}>"


def called(letters: Mapping[str, int]) -> int:
    """A, C, G and T among the letters."""
    return letters.get("A", 0) + letters.get("C", 0) + letters.get("G", 0) + letters.get("T", 0)


def strong(letters: Mapping[str, int]) -> int:
    """C and G among the letters."""
    return letters.get("C", 0) + letters.get("G", 0)


def percent(part: float, whole: float) -> float | None:
    """100 · part / whole; None where the whole is nothing."""
    return 100 * part / whole if whole else None


def phred(errors: float, bases: int) -> float | None:
    """Phred score of `errors` expected among `bases`; None where there are none."""
    return 0.0 - 10 * math.log10(errors / bases) if bases else None  # of quality 0 alone 0, not -0
