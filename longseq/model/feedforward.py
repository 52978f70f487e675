"""Feed-forward networks and norms."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from longseq.model.config import ModelConfig


class SwiGlu(nn.Module):
    """W3 (silu(W1 x) ∘ W2 x) (Shazeer 2020, eq. 6), W1 and W2 in one product."""

    def __init__(self, width: int, inner: int):
        super().__init__()
        self.expand = nn.Linear(width, 2 * inner, bias=False)
        self.output = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(_SiluGate.apply(self.expand(x)))


class _SiluGate(torch.autograd.Function):
    """(…, 2 F) → silu of the first half times the second, (…, F). Only the input is kept for the gradient: with the
    usual two factors this would be the largest thing that a layer keeps."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        gate, value = x.chunk(2, -1)
        return F.silu(gate).mul_(value)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        gate, value = x.chunk(2, -1)
        share = gate.sigmoid()
        silu = gate * share
        return torch.cat([gradient * value * (share + silu * (1 - share)), gradient * silu], -1)


class Gelu(nn.Module):
    """W2 gelu(W1 x)."""

    def __init__(self, width: int, inner: int):
        super().__init__()
        self.expand = nn.Linear(width, inner)
        self.output = nn.Linear(inner, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(F.gelu(self.expand(x)))


def feedforward(config: ModelConfig) -> nn.Module:
    kind = {"swiglu": SwiGlu, "gelu": Gelu}[config.feedforward]
    return kind(config.width, config.inner_width)


def norm(config: ModelConfig) -> nn.Module:
    return nn.RMSNorm(config.width, eps=1e-6) if config.norm == "rms" else nn.LayerNorm(config.width, eps=1e-6)
