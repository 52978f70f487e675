"""What `check` found: a figure and a limit for each law, and figures that are reported only."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from longseq.results.run import Run

CHECK_SCHEMA = "longseq.check/1"


@dataclass(frozen=True, kw_only=True)
class LawResult:
    """One law in one precision on one model."""

    law: str
    model: str
    precision: str
    """float64, float32, bfloat16 or float16: the numbers it was tried in."""
    what: str
    """The case in which it came closest to its limit, or broke it."""
    worst: float
    """The figure of that case; infinite where something was not finite."""
    limit: float
    ok: bool
    """Whether `worst` is at most `limit`."""
    cases: int
    """How many cases were tried."""

    @property
    def share(self) -> float:
        """The worst figure by its limit; infinite where it is not finite, or not 0 and the limit is."""
        found = self.worst / self.limit if self.limit else math.inf if self.worst else 0.0
        return math.inf if math.isnan(found) else found


@dataclass(frozen=True, kw_only=True)
class SkippedLaw:
    """A law that does not apply to a model."""

    law: str
    model: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Something measured that no law limits."""

    name: str
    model: str
    value: float
    unit: str


@dataclass(frozen=True, kw_only=True)
class DriftPoint:
    """How far float32 is from float64 after so many tokens."""

    model: str
    what: str
    """outputs, or memory."""
    tokens: int
    error: float
    """Root-mean-square error ratio; infinite where something was not finite."""
    limit: float


@dataclass(frozen=True, kw_only=True)
class CheckOutcome:
    """All that was checked, in order."""

    laws: tuple[LawResult, ...]
    skipped: tuple[SkippedLaw, ...]
    figures: tuple[Figure, ...]
    drift: tuple[DriftPoint, ...] = ()
    """By model, then by length."""

    @property
    def ok(self) -> bool:
        return all(law.ok for law in self.laws)

    @property
    def broken(self) -> tuple[LawResult, ...]:
        return tuple(law for law in self.laws if not law.ok)

    def to_json(self, run: Run) -> dict:
        """The document of `check --json`."""
        return {"schema": CHECK_SCHEMA, "run": run.to_json(), "ok": self.ok, **asdict(self)}
