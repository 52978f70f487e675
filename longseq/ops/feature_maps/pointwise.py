"""Maps of each channel by itself."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from longseq.ops.feature_maps.base import FeatureMap

SILU_MINIMUM = 0.27846454276107380
"""-min silu(x), reached at x = -1.2785: added, silu is never negative."""


class Pointwise(FeatureMap):
    """Queries and keys are mapped alike, in one go."""

    def pair(self, x: Tensor) -> tuple[Tensor, Tensor, None]:
        q, k = self.query(x)
        return q, k, None


class EluPlusOne(Pointwise):
    """elu(x) + 1 (Katharopoulos et al. 2020, eq. 7)."""

    def map(self, x: Tensor) -> Tensor:
        return _EluPlusOne.apply(x)


class _EluPlusOne(torch.autograd.Function):
    """exp(min(x, 0)) + max(x, 0): elu(x) + 1 without the cancellation of (e^x - 1) + 1. Its derivative is min(phi, 1),
    so only phi is kept; base 2 is three times as fast here as base e."""

    @staticmethod
    def forward(ctx, x):
        y = (x * math.log2(math.e)).clamp_max_(0).exp2_().add_(x.clamp_min(0))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return gradient * y.clamp_max(1)


class Relu(Pointwise):
    """max(x, 0)."""

    def map(self, x: Tensor) -> Tensor:
        return x.relu()


class ReluSquared(Pointwise):
    """max(x, 0)² (So et al. 2021, "Primer")."""

    def map(self, x: Tensor) -> Tensor:
        return x.relu().square()


class ShiftedSilu(Pointwise):
    """(silu(x) + 0.2785) of unit length over K."""

    def map(self, x: Tensor) -> Tensor:
        return F.normalize(F.silu(x) + SILU_MINIMUM, dim=-1, eps=1e-6)
