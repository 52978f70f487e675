"""A learned map of one hidden layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.ops.feature_maps.base import head_linear
from longseq.ops.feature_maps.exponential import LogSpace


class Mlp(LogSpace):
    """[exp(z), exp(-z)] of z = x + W2 gelu(W1 x + b1), weights of each attention head; W2 begins as 0."""

    def __init__(self, heads: int, width: int):
        super().__init__(heads, width)
        self.weight1 = nn.Parameter(torch.randn(heads, width, width) * width**-0.5)
        self.bias1 = nn.Parameter(torch.zeros(heads, width))
        self.weight2 = nn.Parameter(torch.zeros(heads, width, width))

    @classmethod
    def features(cls, width: int) -> int:
        return 2 * width

    def log_map(self, x: Tensor) -> Tensor:
        z = x + head_linear(F.gelu(head_linear(x, self.weight1, self.bias1)), self.weight2)
        return torch.cat([z, -z], -1)
