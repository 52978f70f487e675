"""Gates of whole attention heads, and what stands behind a head's reading."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.model.mixers.heads import join_heads
from longseq.ops.memory import working_dtype, working_precision

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig

SHORTEST = 32.0
"""Tokens: the time constant of the first head where decays are fixed."""
KEEPER = 100.0
"""The slowest head of an input-dependent decay starts with this many times the longest context."""


def time_constants(heads: int, shortest: float, longest: float) -> Tensor:
    """(H,) float64 tokens, log-spaced; a single head has the longest."""
    shortest = min(shortest, longest)
    return torch.logspace(math.log10(longest), math.log10(shortest), heads, dtype=torch.float64).flip(0)


def forget_bias(heads: int, longest: int) -> Tensor:
    """(H,) logits of forget gates sigmoid(b) = 1 - 1 / tau, tau log-spaced from 1.5 to `longest` tokens; the last of
    several heads hardly decays."""
    tau = time_constants(max(heads - 1, 1), 1.5, longest)
    if heads > 1:
        tau = torch.cat([tau, tau.new_tensor([KEEPER * longest])])
    return (tau - 1.0).log()


class HeadGates(nn.Module):
    """Logits of so many gates a head, in the working precision: bfloat16 rounds a decay above 0.998 to 1."""

    def __init__(self, width: int, heads: int, gates: int):
        super().__init__()
        self.gates = gates
        self.project = nn.Linear(width, gates * heads)
        with torch.no_grad():
            self.project.weight.mul_(0.1)
            self.project.bias.zero_()

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """x (B, T, D) → for each gate (B, H, T, 1) float32, or float64 for float64."""
        with working_precision(x):
            dtype = working_dtype(x)
            logits = F.linear(x.to(dtype), self.project.weight.to(dtype), self.project.bias.to(dtype))
        return tuple(part.mT[..., None] for part in logits.chunk(self.gates, -1))


class HeadReading(nn.Module):
    """RMSNorm in each attention head, an output gate on the input, the output projection."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.norm = nn.Parameter(torch.ones(config.width // config.heads))
        self.gate = nn.Linear(config.width, config.width, bias=False) if config.output_gate else None
        self.output = nn.Linear(config.width, config.width, bias=False)

    def forward(self, y: Tensor, x: Tensor) -> Tensor:
        """A reading y (B, H, T, V) in the working precision of inputs x (B, T, D) → (B, T, D)."""
        y = join_heads(F.rms_norm(y, self.norm.shape, self.norm.to(y.dtype), 1e-6)).to(x.dtype)
        if self.gate is not None:
            y = y * F.silu(self.gate(x))
        return self.output(y)
