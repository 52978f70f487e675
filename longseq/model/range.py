"""`range.json` of a checkpoint: what windows it was tried on look like, so that an input unlike them can be told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from longseq.config import from_mapping, require
from longseq.model.beside import read_beside, write_beside

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
    write_beside(folder / FILE, asdict(found), sha256)


def read_range(folder: Path, sha256: str) -> TrainingRange | None:
    """That of a checkpoint; None where there is none, or one of other weights, which is said.

    Raises:
        CheckpointError: it cannot be read.
    """
    return read_beside(folder / FILE, sha256, "a training range", lambda facts: from_mapping(TrainingRange, facts))
