"""A learned map of two softmaxes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longseq.ops.feature_maps.base import FeatureMap, head_linear


class Hedgehog(FeatureMap):
    """[softmax(Wx + b), softmax(-Wx - b)] over the channels, W and b of each attention head (Zhang et al. 2024, "The
    hedgehog and the porcupine", section 4); W begins as the identity, b as 0, and neither is drawn to 0 in training."""

    def __init__(self, heads: int, width: int):
        super().__init__(heads, width)
        self.directions = nn.Parameter(torch.eye(width).repeat(heads, 1, 1))
        self.bias = nn.Parameter(torch.zeros(heads, width))

    @classmethod
    def features(cls, width: int) -> int:
        return 2 * width

    def map(self, x: Tensor) -> Tensor:
        # Both signs in one product: no copy puts the halves side by side.
        z = head_linear(x, *(torch.cat([part, -part], -1) for part in (self.directions, self.bias)))
        return z.unflatten(-1, (2, -1)).softmax(-1).flatten(-2)
