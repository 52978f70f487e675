"""How parameters are updated."""

from __future__ import annotations

import math
from dataclasses import dataclass

from longseq.config import require


@dataclass(frozen=True, kw_only=True)
class OptimiserConfig:
    """AdamW (Loshchilov and Hutter 2019, algorithm 2), linear warm-up and cosine decay."""

    rate: float | None = None
    """Highest learning rate; None: 3e-3, from a model 1e-3, of its adapters 3e-3, of its head alone 1e-2."""
    floor: float = 0.05
    """Last learning rate, as a share of the highest."""
    warmup: float = 0.02
    """Share of the run over which the rate rises from 0."""
    beta1: float = 0.9
    """Decay of the running mean of gradients, a step."""
    beta2: float = 0.95
    """Decay of the running mean of squared gradients, a step."""
    epsilon: float = 1e-8
    """Added to the root of the mean square."""
    weight_decay: float = 0.1
    """Decay of weight matrices, times the rate, a step; norms, biases, embeddings and other vectors have none."""
    clip: float = 1.0
    """Largest norm of the gradient of all parameters together."""

    def __post_init__(self):
        require(self.rate is None or 0 < self.rate < math.inf, "optimiser.rate", self.rate, "above 0 and finite")
        require(0 <= self.floor <= 1, "optimiser.floor", self.floor, "a share, 0 to 1")
        require(0 <= self.warmup < 1, "optimiser.warmup", self.warmup, "a share, 0 to below 1")
        for name in ("beta1", "beta2"):
            require(0 <= getattr(self, name) < 1, f"optimiser.{name}", getattr(self, name), "in [0, 1)")
        for name in ("epsilon", "clip"):
            require(0 < getattr(self, name) < math.inf, f"optimiser.{name}", getattr(self, name), "above 0 and finite")
        decay = self.weight_decay
        require(0 <= decay < math.inf, "optimiser.weight_decay", decay, ">= 0 and finite")
