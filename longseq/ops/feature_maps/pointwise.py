"""Maps of each channel by itself."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from longseq.ops.feature_maps.base import FeatureMap

SILU_MINIMUM = 0.27846454276107380
"""-min silu(x), reached at x = -1.2785: added, silu is never negative."""


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


class ShiftedSilu(FeatureMap):
    """(silu(x) + 0.2785) of unit length over K."""

    def map(self, x: Tensor) -> Tensor:
        return F.normalize(F.silu(x) + SILU_MINIMUM, dim=-1, eps=1e-6)
