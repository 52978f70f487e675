"""Random features that stand for the softmax."""

from __future__ import annotations

import torch
from torch import Tensor

from longseq.ops.feature_maps.base import head_linear
from longseq.ops.feature_maps.exponential import LogSpace


class RandomPositive(LogSpace):
    """exp(-|x|²/2) [exp(Wx), exp(-Wx)] of x / K^¼ (Choromanski et al. 2021, lemma 1 and eq. 5): in the mean over W,
    phi(q)·phi(k) is 2 K exp(q·k / √K).

    The rows of W are orthogonal, of the lengths of Gaussian vectors. W is drawn once, from the seed of the initial
    weights, and kept with them.
    """

    directions: Tensor
    """(H, K, K), one direction a column."""

    def __init__(self, heads: int, width: int):
        super().__init__(heads, width)
        turned, triangle = torch.linalg.qr(torch.randn(heads, width, width))
        # The sign makes the rotation uniform (Mezzadri 2007).
        turned = turned * triangle.diagonal(dim1=-2, dim2=-1).sign()[:, None]
        self.register_buffer("directions", turned * torch.randn(heads, width, width).norm(dim=1, keepdim=True))

    @classmethod
    def features(cls, width: int) -> int:
        return 2 * width

    def log_map(self, x: Tensor) -> Tensor:
        x = x * x.shape[-1] ** -0.25
        z = head_linear(x, self.directions)
        return torch.cat([z, -z], -1) - 0.5 * x.square().sum(-1, keepdim=True)
