"""Exponential maps, in log space."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from longseq.ops.feature_maps.base import FeatureMap

LN2_HIGH, LN2_LOW = 0.693145751953125, 1.42860682030941723e-6
"""ln 2 in two parts, the first of few bits (Cody and Waite): their products with an integer undo its rounding."""


class LogSpace(FeatureMap):
    """phi(x) = exp(log phi(x)) of any size: each query is divided by its largest feature, which cancels in the
    quotient; each key carries the power of two of its largest feature as an exponent."""

    eps = 0.0

    def log_map(self, x: Tensor) -> Tensor:
        """log phi(x)."""
        raise TypeError(f"{type(self).__name__} does not define log_map")

    def map_query(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        z = self.log_map(x)
        largest = z.detach().amax(-1, keepdim=True)
        return (z - largest).exp(), largest[..., 0]

    def map_key(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        z = self.log_map(x)
        exponent = (z.detach().amax(-1) * math.log2(math.e)).ceil()
        e = exponent[..., None]
        return ((z - e * LN2_HIGH) - e * LN2_LOW).exp(), exponent.to(torch.int32)


class Exponential(LogSpace):
    """exp(x)."""

    def log_map(self, x: Tensor) -> Tensor:
        return x
