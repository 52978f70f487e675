"""What is found in one DNA record beyond counts: at its ends, by a model, by a classifier, by a gene finder.

Coordinates are bases of the record, 0-based and half-open. None is "not looked for" or "cannot be told".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

NOVELTY = ("in range", "out of range", "unknown")
UNKNOWN = "unknown"
"""In the place of a class: the record, or the stretch of it, is out of the range of what the classes are of."""


@dataclass(frozen=True, kw_only=True)
class TerminalRepeat:
    """The beginning of a record that stands at its end again: a circle whose overlap was left, or terminal redundancy
    as in T4."""

    length: int
    """Bases of the repeat."""
    identity: float
    """Share of them that are equal."""


@dataclass(frozen=True, kw_only=True)
class Telomere:
    """Telomere repeats at an end of a record."""

    end: Literal["start", "end"]
    """Where: at its first or at its last base."""
    unit: str
    """The repeat, as it reads towards the end of a chromosome."""
    strand: Literal["+", "-"]
    """Of the unit on the record: a whole chromosome starts with `-` and ends with `+`."""
    length: int
    """Bases of the run, at most 65,536."""
    repeated: int
    """Of these, bases in exact repeats."""


@dataclass(frozen=True, kw_only=True)
class Representative:
    """A window that stands for those like it, by the vectors of a model."""

    start: int
    end: int
    share: float
    """Of the record's windows, those that are nearest to this one."""


@dataclass(frozen=True, kw_only=True)
class ClassRegion:
    """A stretch of one class."""

    start: int
    end: int
    label: str
    probability: float | None
    """Mean over its windows, each read afresh; None of `unknown`, which has no probability."""


@dataclass(frozen=True, kw_only=True)
class ClassCall:
    """The class of a record by a head that the user trained."""

    model: str
    """sha256 of its checkpoint."""
    label: str
    """One of the head's classes, or `unknown` where its calibration says that the record is out of range."""
    probabilities: Mapping[str, float]
    """Of every class the head knows."""
    calibrated: bool
    """Whether the head has a calibration; without one, probabilities are its own and nothing is unknown."""
    regions: tuple[ClassRegion, ...]
    """They tile the record; the class changes where one ends."""

    @property
    def probability(self) -> float | None:
        """Of the class; None of `unknown`: the classes' probabilities say which of them is nearest, not how near."""
        return None if self.label == UNKNOWN else self.probabilities[self.label]


@dataclass(frozen=True, kw_only=True)
class GeneFacts:
    """Genes of a prokaryote as pyrodigal calls them."""

    number: int
    coding: float
    """Percent of bases that lie in a gene."""
    partial: int
    """Genes that run over an end of the record."""
    genetic_code: int
    trained: bool
    """Whether the finder learned from this record; short ones are read with models it brings."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All of it; the keys of its JSON are those of the record."""

    terminal_repeat: TerminalRepeat | None = None
    telomeres: tuple[Telomere, ...] = ()
    markov_bits: Mapping[str, float] = field(default_factory=dict)
    """With a model: bits a base of adaptive Markov models of the record itself, by `order2`, `order6`."""
    representatives: tuple[Representative, ...] = ()
    """Most common kind first."""
    novelty: str | None = None
    """With a model: `in range` of what its checkpoint says it was tried on, `out of range`, or `unknown`."""
    out_of_range: float | None = None
    """Share of the windows that are out of that range, in bits a base or GC."""
    classes: ClassCall | None = None
    genes: GeneFacts | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values by name."""
        return asdict(self) if self != _NOTHING else dict(_NOTHING_JSON)


_NOTHING = Findings()
_NOTHING_JSON = asdict(_NOTHING)


class VectorBlock(NamedTuple):
    """Vectors of V windows in a row of one record."""

    start: np.ndarray
    """(V,) int64."""
    end: np.ndarray
    """(V,) int64."""
    vectors: np.ndarray
    """(V, D) float32, NaN in a window without A, C, G, T."""


@dataclass(frozen=True, kw_only=True)
class WindowVectors:
    """Mean hidden vectors over the bases of each window of one record, however few they are."""

    strand: str
    """`+` forwards, `both` the mean of both strands."""
    layer: str
    model: str
    """sha256 of the checkpoint."""
    width: int
    """Numbers a vector."""
    blocks: Callable[[], Iterator[VectorBlock]]
    """Some windows at a time; only until the next record is asked for."""
