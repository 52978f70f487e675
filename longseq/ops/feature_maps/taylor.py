"""The exponential's Taylor series, cut after the square."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from longseq.ops.feature_maps.base import FeatureMap


class Taylor2(FeatureMap):
    """phi(q)·phi(k) = 1 + s + s²/2 with s = q·k / √K (Arora et al. 2024, "Based", section 4.1).

    x⊗x is symmetric, so one half of it will do. Features have a sign; the kernel, (1 + (1 + s)²) / 2, has none.
    """

    eps = 0.0
    floor = 0.5

    def __init__(self, heads: int, width: int):
        super().__init__(heads, width)
        self.width = width

    @classmethod
    def features(cls, width: int) -> int:
        return 1 + width + width * (width + 1) // 2

    def map(self, x: Tensor) -> Tensor:
        x = x * self.width**-0.25
        # x_i x_j for i < j stands for two entries of x⊗x, a square for one.
        pairs = [x[..., i : i + 1] * x[..., i + 1 :] for i in range(self.width - 1)]
        return torch.cat([torch.ones_like(x[..., :1]), x, x.square() * math.sqrt(0.5), *pairs], -1)
