"""`range.json` of a checkpoint: what windows it was tried on look like, so that an input unlike them can be told."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path

from longseq.config import require
from longseq.errors import CheckpointError, ConfigError

log = logging.getLogger("longseq")

FILE = "range.json"


@dataclass(frozen=True, kw_only=True)
class TrainingRange:
    """Between which figures nearly all held-out windows of the kind that the model learned from lie."""

    window: int
    """Bases a window."""
    windows: int
    """Windows it was measured on."""
    quantiles: tuple[float, float]
    """Shares of the windows that lie below the lower and below the upper end."""
    gc: tuple[float, float]
    """Percent of A, C, G, T."""
    bits: tuple[float, float]
    """Bits a base, state carried from the record's start."""
    of: str
    """What was read."""

    def __post_init__(self):
        require(self.window >= 1, "range.window", self.window, ">= 1 base")
        for name in ("quantiles", "gc", "bits"):
            ends = getattr(self, name)
            require(len(ends) == 2 and ends[0] <= ends[1], f"range.{name}", ends, "two ascending numbers")


def write_range(folder: Path, found: TrainingRange, sha256: str) -> None:
    """Into a checkpoint's directory; `sha256` is the model's, for which alone it holds."""
    aside = folder / f".{FILE}.new"
    aside.write_text(json.dumps({"model_sha256": sha256, **asdict(found)}, indent=2) + "\n", encoding="utf-8")
    aside.replace(folder / FILE)


def read_range(folder: Path, sha256: str) -> TrainingRange | None:
    """That of a checkpoint; None where there is none, or one of other weights, which is said.

    Raises:
        CheckpointError: it cannot be read.
    """
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        of = facts.pop("model_sha256")
        for name in ("quantiles", "gc", "bits"):
            facts[name] = tuple(float(x) for x in facts[name])
        found = TrainingRange(**facts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(where=str(file), expected="a training range", found=str(error)) from None
    if of != sha256:
        log.warning("%s: is of other weights, and is left out", file)
        return None
    return found
