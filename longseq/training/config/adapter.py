"""Low-rank adapters."""

from __future__ import annotations

import math
from dataclasses import dataclass

from longseq.config import require


@dataclass(frozen=True, kw_only=True)
class AdapterConfig:
    """Low-rank adapters (LoRA, Hu et al. 2022) beside the encoder's weights, which stay as they were at the start.

    The model that the run leaves holds their sums and is like any other.
    """

    rank: int = 0
    """r, rank of what is learned beside a matrix; 0: no adapters, the encoder itself is trained."""
    alpha: float = 16.0
    """What is learned is scaled by alpha / r."""
    maps: tuple[str, ...] = ()
    """Parts of the names of the linear maps that have one, such as feedforward, mixer.project or output; empty: all."""

    def __post_init__(self):
        require(self.rank >= 0, "adapter.rank", self.rank, ">= 0")
        require(0 < self.alpha < math.inf, "adapter.alpha", self.alpha, "above 0 and finite")
        require(self.rank > 0 or not self.maps, "adapter.maps", self.maps, "none without adapter.rank")
