"""The learned map of two softmaxes, wider, and of queries and keys apart."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longseq.ops.feature_maps.base import FeatureMap, head_linear

WIDER = 4
"""Directions a channel."""


class WideHedgehog(FeatureMap):
    """[softmax(Wx + b), softmax(-Wx - b)] over 4 K directions, W and b of each attention head and of queries and keys
    each their own (Zhang et al. 2025, "LoLCATs", after Zhang et al. 2024, "The hedgehog and the
    porcupine", section 4). The first K directions begin as the channels, the others at random, the same for queries
    and keys; b begins as 0."""

    def __init__(self, heads: int, width: int):
        super().__init__(heads, width)
        more = torch.randn(heads, width, (WIDER - 1) * width) * 1.5 * width**-0.5
        start = torch.cat([torch.eye(width).repeat(heads, 1, 1), more], -1)
        self.queries, self.keys = nn.Parameter(start), nn.Parameter(start.clone())
        self.query_bias = nn.Parameter(torch.zeros(heads, WIDER * width))
        self.key_bias = nn.Parameter(torch.zeros(heads, WIDER * width))

    @classmethod
    def features(cls, width: int) -> int:
        return 2 * WIDER * width

    def map_query(self, x: Tensor) -> tuple[Tensor, None]:
        return _two_sided(head_linear(x, self.queries, self.query_bias)), None

    def map_key(self, x: Tensor) -> tuple[Tensor, None]:
        return _two_sided(head_linear(x, self.keys, self.key_bias)), None


def _two_sided(z: Tensor) -> Tensor:
    return torch.cat([z.softmax(-1), (-z).softmax(-1)], -1)
