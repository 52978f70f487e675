"""Linear attention that forgets: a decay per channel and input (or a plainer one), a short convolution, a norm and an
output gate.

The decay follows gated linear attention (Yang et al. 2024), spread at the start over time constants from one token to
the longest context, with some channels that hardly decay; the denominator decays with the memory.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.model.mixers.attend import attend
from longseq.model.mixers.gates import SHORTEST, forget_bias, time_constants
from longseq.model.mixers.heads import join_heads, split_heads, stack_heads
from longseq.ops.convolution import short_convolution
from longseq.ops.exchange import Exchange
from longseq.ops.feature_maps import feature_map
from longseq.ops.memory import Memory, working_dtype, working_precision

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig

KEEPERS = 8
"""Every so many channels, one starts with a time constant a hundred times the longest context."""


class GatedState(NamedTuple):
    memory: Memory
    """(B, H, K, V+1)."""
    tail: Tensor
    """(B, W-1, 3 D), the last valid inputs of the convolution; W-1 = 0 without one."""


class Gated(nn.Module):
    state_type = GatedState

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        width, heads = config.width, config.heads
        self.heads, self.block, self.rescale = heads, config.block, config.rescale
        self.taps = config.convolution or 1
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.entering, self.leaving = nn.Identity(), nn.Identity()
        rates = {"channel": width, "head": heads}.get(config.decay, 0)
        self.decay = nn.Linear(width, rates) if rates else None
        self.fixed: list[float] = []
        if config.decay == "fixed":  # numbers, not a buffer: a model cast to bfloat16 keeps its time constants
            self.fixed = (-1.0 / time_constants(heads, SHORTEST, float(config.longest))).tolist()
        self.gate = nn.Linear(width, width, bias=False) if config.output_gate else None
        if config.convolution:
            self.convolution = nn.Parameter(torch.randn(3 * width, self.taps) * 0.5 / self.taps)
            with torch.no_grad():
                # Keys begin at the token before, queries and values at the current one: from the start a query finds
                # what followed its like, and the memory is one of continuations.
                self.convolution[:width, -1] += 1.0
                self.convolution[width : 2 * width, -2] += 1.0
                self.convolution[2 * width :, -1] += 1.0
        self.map = feature_map(config.feature_map, heads, width // heads)
        self.norm: nn.Module = nn.Identity()
        if config.mixer_norm != "none":
            self.norm = nn.RMSNorm(width if config.mixer_norm == "width" else width // heads, eps=1e-6)
        self.norm_in_heads = config.mixer_norm == "head"
        self.output = nn.Linear(width, width, bias=False)
        if self.decay is None:
            return
        with torch.no_grad():
            self.decay.weight.mul_(0.1)
            if config.decay == "channel":
                self.decay.bias.copy_(initial_decay_bias(width // heads, config.longest).repeat(heads))
            else:
                self.decay.bias.copy_(-forget_bias(heads, config.longest))

    def forward(
        self, x: Tensor, state: GatedState | None = None, mask: Tensor | None = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, GatedState]:
        """x (B, T, D) → y (B, T, D), the memory and the convolution's tail after its last valid token."""
        joined = self.project(x)
        tail = joined.new_zeros(x.shape[0], self.taps - 1, joined.shape[-1]) if state is None else state.tail
        if self.taps > 1:
            if exchange is not None:
                # A first pass for the tail alone: it needs the inputs, not the result.
                tail = exchange.tail(short_convolution(joined, self.convolution, tail, mask)[1], tail)
            joined, tail = short_convolution(joined, self.convolution, tail, mask)
        y, memory = attend(
            self.map,
            self.entering(stack_heads(joined, 3, self.heads)),
            None if state is None else state.memory,
            mask,
            exchange,
            decay=self.log_decay(x),
            decay_bound=1.0,
            block=self.block,
            rescale=self.rescale,
        )
        y = self.leaving(y)
        y = join_heads(self.norm(y)) if self.norm_in_heads else self.norm(join_heads(y))
        y = y.to(x.dtype)
        if self.gate is not None:
            y = y * F.silu(self.gate(x))
        return self.output(y), GatedState(memory, tail)

    def log_decay(self, x: Tensor) -> Tensor | None:
        """x (B, T, D) → (B, H, T, K or 1) in [-1, 0]; None: nothing is forgotten."""
        if self.fixed:
            rates = x.new_tensor(self.fixed, dtype=working_dtype(x))
            return rates[:, None, None].expand(len(x), -1, x.shape[1], 1)
        if self.decay is None:
            return None
        with working_precision(x):
            # bfloat16 rounds a decay above 0.998 to 1: gates stay in the working precision.
            dtype = working_dtype(x)
            g = -torch.sigmoid(F.linear(x.to(dtype), self.decay.weight.to(dtype), self.decay.bias.to(dtype)))
        return split_heads(g, self.heads)


def initial_decay_bias(channels: int, longest: int) -> Tensor:
    """(K,) logits whose sigmoids are 1 / tau, tau log-spaced from 1.5 to `longest` tokens over the channels of a head;
    every `KEEPERS`-th channel holds a hundred times longer."""
    tau = torch.logspace(math.log10(1.5), math.log10(longest), channels)
    tau[KEEPERS - 1 :: KEEPERS] = 100.0 * longest
    return -torch.log(tau - 1.0)
