"""What is asked of `embed`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longseq.config import require
from longseq.streaming.hidden import FINAL
from longseq.tasks.sources import Asked

Per = Literal["record", "window", "section", "sentence", "base"]
PARTS = ("section", "sentence")
"""Units that only documents have."""
Pool = Literal["mean", "last", "max"]
Strands = Literal["forward", "both"]

MOST = 1_000_000
"""Vectors of single bases that need not be asked for: about half a gigabyte."""


@dataclass(frozen=True, kw_only=True)
class Request(Asked):
    """Inputs, and which vectors of them are wanted."""

    inputs: tuple[str, ...]
    """Files; `-` is standard input."""
    per: Per = "record"
    """What a vector is of: a record, a window, a section or a sentence of a document, a base or token."""
    window: int = 0
    """Tokens a window, from the record's start; with `per` "window"."""
    layer: str = FINAL
    """A number or a name, as `longseq.streaming.hidden.layer_names` lists them."""
    pool: Pool = "mean"
    """How the vectors of its tokens become one: their mean, their maximum in each channel, or the last one read."""
    normalize: bool = False
    """Whether each vector is scaled to a length of 1."""
    strands: Strands | None = None
    """Read forwards, or take the mean of both strands; None: both where the model reads letters of DNA."""
    most: int = MOST
    """Vectors of bases or tokens at most, with `per` "base"."""
    column: str | None = None
    """Column of tables that holds the texts."""

    def __post_init__(self):
        known = ("record", "window", *PARTS, "base")
        require(self.per in known, "per", self.per, "record, window, section, sentence or base")
        require(self.pool in ("mean", "last", "max"), "pool", self.pool, "mean, last or max")
        require(self.strands in (None, "forward", "both"), "strands", self.strands, "forward or both")
        if self.per == "window":
            require(self.window >= 1, "window", self.window, ">= 1 token")
        require(self.most >= 1, "most", self.most, ">= 1 vector")
