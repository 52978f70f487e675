"""What a law is made of: cases, each with a figure and a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from longseq.results.check import DriftPoint, Figure
from longseq.tasks.check.subject import Subject

LIMIT = {"float32": 1e-5, "float64": 1e-12, "bfloat16": 1e-2, "float16": 1e-2}
"""Root-mean-square error ratios, by the precision of what is compared."""


@dataclass(frozen=True)
class Case:
    """One trial of a law."""

    what: str
    precision: str
    figure: float
    limit: float


@dataclass(frozen=True)
class Law:
    """A law by name: `cases` tries it on a subject with so many tokens."""

    name: str
    cases: Callable[[Subject, int], Iterator[Case | Figure | DriftPoint]]
    unfit: Callable[[Subject], str | None] = lambda _: None
    """Why the law does not apply to a subject; None where it does."""
