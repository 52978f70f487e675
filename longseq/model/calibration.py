"""`calibration.json` of a checkpoint: by what its logits are divided, and below what an input is out of range."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from longseq.config import require
from longseq.errors import CheckpointError, ConfigError
from longseq.metrics.calibration import METHOD, Judged, fit_temperature, judged, threshold

log = logging.getLogger("longseq")

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
    text = json.dumps({"model_sha256": sha256, **asdict(calibration)}, indent=2)
    aside = folder / f".{FILE}.new"
    aside.write_text(text + "\n", encoding="utf-8")
    aside.replace(folder / FILE)


def read_calibration(folder: Path, sha256: str) -> Calibration | None:
    """That of a checkpoint; None where there is none, or one of other weights, which is said.

    Raises:
        CheckpointError: it cannot be read.
    """
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        of = found.pop("model_sha256")
        calibration = Calibration(**found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(where=str(file), expected="a calibration", found=str(error)) from None
    if of != sha256:
        log.warning("%s: is of other weights, and is left out; --calibrate makes one of these", file)
        return None
    return calibration
