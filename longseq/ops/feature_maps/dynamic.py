"""A map that each token chooses."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longseq.ops.feature_maps.base import FeatureMap, head_linear
from longseq.ops.feature_maps.pointwise import EluPlusOne, ReluSquared, ShiftedSilu


class Dynamic(FeatureMap):
    """Σ share_i(x) phi_i(x) over elu+1, relu² and normalised shifted SiLU, shares = softmax(Wx + b) with W and b of
    each attention head; W and b begin as 0: equal shares."""

    def __init__(self, heads: int, width: int):
        super().__init__(heads, width)
        # A tuple: they have nothing to train or to keep.
        self.maps = tuple(kind(heads, width) for kind in (EluPlusOne, ReluSquared, ShiftedSilu))
        self.weight = nn.Parameter(torch.zeros(heads, width, len(self.maps)))
        self.bias = nn.Parameter(torch.zeros(heads, len(self.maps)))

    def map(self, x: Tensor) -> Tensor:
        shares = head_linear(x, self.weight, self.bias).softmax(-1).split(1, -1)
        parts = [share * phi.map(x) for share, phi in zip(shares, self.maps, strict=True)]
        return torch.stack(parts).sum(0)
