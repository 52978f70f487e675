"""Feature maps phi: what linear attention puts in place of the exponential of q·k.

A map is a module with `query` and `key`; a new one is a class and a line in `FEATURE_MAPS`. Masking comes after the
map: elu(0) + 1 is 1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.config import require

SILU_MINIMUM = 0.27846454276107380
"""-min silu(x), reached at x = -1.2785: added, silu is never negative."""


class FeatureMap(nn.Module):
    """x (B, H, T, K) → phi(x) (B, H, T, K'), not negative."""

    eps = 1e-6
    """Added to the denominator: relu maps may see nothing of what is there."""

    def __init__(self, heads: int, width: int):
        super().__init__()

    def query(self, x: Tensor) -> Tensor:
        return self.map(x)

    def key(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """phi(x), and the power of two (B, H, T) int32 by which it counts, or None."""
        return self.map(x), None

    def map(self, x: Tensor) -> Tensor:
        raise TypeError(f"{type(self).__name__} defines neither map nor query and key")


class EluPlusOne(FeatureMap):
    """elu(x) + 1 (Katharopoulos et al. 2020, eq. 7)."""

    def map(self, x: Tensor) -> Tensor:
        # exp(min(x, 0)) + max(x, 0): the same function without the cancellation of (e^x - 1) + 1.
        return x.clamp_max(0).exp() + x.clamp_min(0)


class Relu(FeatureMap):
    """max(x, 0)."""

    def map(self, x: Tensor) -> Tensor:
        return x.relu()


class ReluSquared(FeatureMap):
    """max(x, 0)² (So et al. 2021, "Primer")."""

    def map(self, x: Tensor) -> Tensor:
        return x.relu().square()


class Exponential(FeatureMap):
    """exp(x) in log space: each query is divided by its largest feature, which cancels in the quotient; each key
    carries the power of two of its largest feature as an exponent, so that no x overflows."""

    eps = 0.0

    def query(self, x: Tensor) -> Tensor:
        return (x - x.detach().amax(-1, keepdim=True)).exp()

    def key(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        exponent = (x.detach().amax(-1) * math.log2(math.e)).ceil()
        # Rounding of exponent * ln 2 is undone to first order by taking the product apart (Cody and Waite).
        high, low = 0.693145751953125, 1.42860682030941723e-6
        e = exponent[..., None]
        return ((x - e * high) - e * low).exp(), exponent.to(torch.int32)


class ShiftedSilu(FeatureMap):
    """(silu(x) + 0.2785) of unit length over K."""

    def map(self, x: Tensor) -> Tensor:
        return F.normalize(F.silu(x) + SILU_MINIMUM, dim=-1, eps=1e-6)


FEATURE_MAPS: dict[str, type[FeatureMap]] = {
    "elu+1": EluPlusOne,
    "relu": Relu,
    "relu2": ReluSquared,
    "exp": Exponential,
    "silu": ShiftedSilu,
}


def feature_map(name: str, heads: int, width: int) -> FeatureMap:
    """The map called `name` for `heads` attention heads of `width` channels."""
    require(name in FEATURE_MAPS, "model.feature_map", name, "one of " + ", ".join(FEATURE_MAPS))
    return FEATURE_MAPS[name](heads, width)
