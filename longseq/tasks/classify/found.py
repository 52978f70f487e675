"""What is found of a record: what a head gives, before it is said what that means. None of it wants torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Evidence(NamedTuple):
    """A sentence that speaks for the class of its document."""

    start: int
    """First letter."""
    end: int
    section: str
    """Titles of the sections it lies in."""
    margin: float
    """Nats by which the class's score over the mean of the others would fall without it."""
    share: float
    """Weight in the reading of the document, of 1."""
    text: str
    """As it stands there."""


@dataclass(frozen=True)
class Classified:
    """Scores of one record (C classes or numbers), as the head gives them."""

    file: str
    record: str
    start: int
    """In the record, where only a stretch of it was read."""
    length: int
    """Letters."""
    scores: np.ndarray | None
    """(C,) float32 of the whole record; None where it has no token that says something: of DNA no A, C, G or T."""
    running_ends: np.ndarray
    """(P,) int64 letters up to which each running reading has read; the last one is the whole record."""
    running: np.ndarray
    """(P, C) float32, NaN where no token said something so far."""
    windows: np.ndarray
    """(W, 2) int64 letters."""
    afresh: np.ndarray
    """(W, C) float32, of each window as if it were a record; NaN where none of its tokens says something."""
    evidence: tuple[Evidence, ...]
    """Sentences that speak for the class, those that matter most first; none of sequences, nor of a head that takes the
    maximum or the last vector."""
    truncated: bool
