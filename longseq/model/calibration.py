"""`calibration.json` of a checkpoint: by what its logits are divided, and below what an input is out of range."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from longseq.config import from_mapping, require
from longseq.metrics.calibration import METHOD, Judged, fit_temperature, judged, threshold
from longseq.model.beside import read_beside, write_beside

FILE = "calibration.json"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    temperature: float
    """Logits are divided by it."""
    in_range_above: float | None
    """Log-sum-exp of the logits (not divided) below which an input is out of range; None: no telling."""
    records: int
    """Labelled records it was fitted on."""
    nats: float | None = None
    """Mean negative log-likelihood of records, in groups, by fits that had not seen them; None: one group only."""
    error: float | None = None
    """Expected calibration error, in the same way; None: one group only, or labels by themselves."""
    accepted: float | None = None
    """Share of records called in range, in the same way."""
    method: str = METHOD
    """How, and by whom."""

    def __post_init__(self):
        require(self.temperature > 0, "calibration.temperature", self.temperature, "above 0")

    @classmethod
    def fitted(cls, logits: np.ndarray, truth: np.ndarray, groups: np.ndarray) -> Calibration:
        """Of logits (N, C) and their classes (N,), or labels (N, C) of 0 and 1, for which nothing is out of range;
        groups (N,) are never divided where the fit is judged."""
        limit = threshold(logits) if truth.ndim == 1 else None
        temperature = fit_temperature(logits, truth)
        return cls.judged(temperature, limit, len(truth), judged(logits, truth, groups))

    @classmethod
    def judged(cls, temperature: float, limit: float | None, records: int, found: Judged) -> Calibration:
        """A fit and what it comes to on records it had not seen."""
        nats, error, accepted = (None if math.isnan(value) else value for value in found)
        return cls(
            temperature=temperature,
            in_range_above=limit,
            records=records,
            nats=nats,
            error=error,
            accepted=accepted,
        )


def write_calibration(folder: Path, calibration: Calibration, sha256: str) -> None:
    """Into a checkpoint's directory; `sha256` is the model's, for which alone it holds."""
    write_beside(folder / FILE, asdict(calibration), sha256)


def read_calibration(folder: Path, sha256: str) -> Calibration | None:
    """That of a checkpoint; None where there is none, or one of other weights, which is said.

    Raises:
        CheckpointError: it cannot be read.
    """
    remedy = "; --calibrate makes one of these"
    return read_beside(folder / FILE, sha256, "a calibration", lambda facts: from_mapping(Calibration, facts), remedy)
