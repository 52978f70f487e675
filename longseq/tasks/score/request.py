"""What is asked of `score`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longseq.config import require
from longseq.errors import UsageError
from longseq.tasks.sources import Asked

Strands = Literal["forward", "both"]
TrackFormat = Literal["npy", "bw"]

EVERY = 10_000_000
"""Tokens between two snapshots: minutes of work, and a snapshot takes milliseconds."""


@dataclass(frozen=True, kw_only=True)
class Request(Asked):
    """Inputs, and what is wanted of each record."""

    inputs: tuple[str, ...]
    """Files; `-` is standard input."""
    strands: Strands = "forward"
    """Score the reverse complement as well, in a row of its own."""
    track: bool = False
    """Keep the bits of every token."""
    track_format: TrackFormat = "npy"
    """One array of all rows, or a bigWig a strand."""
    every: int = EVERY
    """Tokens between two snapshots."""
    state: str | None = None
    """A saved state that the one record goes on from."""
    save_state: str | None = None
    """Where the state after the one record is saved."""

    def __post_init__(self):
        require(self.strands in ("forward", "both"), "strands", self.strands, "'forward' or 'both'")
        require(self.track_format in ("npy", "bw"), "track-format", self.track_format, "'npy' or 'bw'")
        require(self.every >= 1, "snapshot-every", self.every, ">= 1 token")
        if self.track_format != "npy" and not self.track:
            raise UsageError("--track-format needs --track", remedy="give --track as well")
        if self.one and self.strands == "both":
            raise UsageError("a state goes on in one direction", remedy="leave --strands both out")

    @property
    def one(self) -> bool:
        """Whether the inputs may hold one record only."""
        return self.state is not None or self.save_state is not None
