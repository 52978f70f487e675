"""Which tokens are hidden."""

from __future__ import annotations

from dataclasses import dataclass

from longseq.config import require


@dataclass(frozen=True, kw_only=True)
class MaskConfig:
    """Which bases are hidden (task masked)."""

    share: float = 0.15
    """Share of the bases, on average."""
    span: int = 6
    """Bases that are hidden together: one alone is told by its neighbours. Spans may touch and overlap."""

    def __post_init__(self):
        require(0 < self.share < 1, "mask.share", self.share, "a share, above 0 to below 1")
        require(self.span >= 1, "mask.span", self.span, ">= 1 base")
