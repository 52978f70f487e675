"""Feed-forward networks and norms."""

from __future__ import annotations

from collections.abc import Callable

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
        x = self.expand(x)
        return _GatedProduct.apply(x, self.output.weight.to(x.dtype))


ROWS = 8192
"""Tokens whose gradient is worked out together."""


class _GatedProduct(torch.autograd.Function):
    """x (…, 2 F), weight (D, F) → (silu of the first half times the second) weightᵀ, (…, D).

    Only x is kept for the gradient: the factors and their product would double what a layer keeps.
    """

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        gate, value = x.chunk(2, -1)
        return F.linear(F.silu(gate).mul_(value), weight)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        grad_x, grad_weight = (
            torch.empty_like(x),
            torch.zeros_like(weight, dtype=torch.promote_types(weight.dtype, torch.float32)),
        )
        rows = zip(*(y.flatten(0, -2).split(ROWS) for y in (x, gradient, grad_x)), strict=True)
        for here, above, found in rows:
            gate, value = here.chunk(2, -1)
            share = gate.sigmoid()
            silu = gate * share
            grad_weight += above.mT @ (silu * value)
            below = above @ weight
            found[:, : gate.shape[-1]] = below * value * (share + silu * (1 - share))
            found[:, gate.shape[-1] :] = below * silu
        return grad_x, grad_weight.to(weight.dtype)


class Plain(nn.Module):
    """W2 f(W1 x), f gelu or relu."""

    def __init__(self, width: int, inner: int, activation: Callable[[Tensor], Tensor]):
        super().__init__()
        self.expand = nn.Linear(width, inner)
        self.output = nn.Linear(inner, width)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.activation(self.expand(x)))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"gelu": F.gelu, "relu": F.relu}


def feedforward(config: ModelConfig) -> nn.Module:
    if config.feedforward == "swiglu":
        return SwiGlu(config.width, config.inner_width)
    return Plain(config.width, config.inner_width, ACTIVATIONS[config.feedforward])


def norm(config: ModelConfig) -> nn.Module:
    kind = nn.RMSNorm if config.norm == "rms" else nn.LayerNorm
    return kind(config.width, eps=config.norm_epsilon)
