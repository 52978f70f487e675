"""The delta rule (Yang et al. 2024) and its gated form (Yang et al. 2025): a memory that corrects what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.model.mixers.convolve import ShortConvolution
from longseq.model.mixers.gates import HeadGates, HeadReading, forget_bias
from longseq.model.mixers.heads import split_heads
from longseq.ops.delta_rule import delta_rule, delta_transition
from longseq.ops.exchange import Exchange
from longseq.ops.memory import Memory, working_dtype
from longseq.ops.padding import keep

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig


class DeltaState(NamedTuple):
    memory: Memory
    """(B, H, K, V)."""
    tail: Tensor
    """(B, W-1, 3 D), the last valid inputs of the convolution; W-1 = 0 without one."""


class Delta(nn.Module):
    """SiLU behind a short convolution, queries and keys of unit length; a writing strength and a norm a head."""

    state_type = DeltaState

    forgets = False

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        width, heads = config.width, config.heads
        self.heads, self.block, self.rescale = heads, config.block, config.rescale
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.entering, self.leaving = nn.Identity(), nn.Identity()
        self.gates = HeadGates(width, heads, 2 if self.forgets else 1)
        self.convolution = ShortConvolution(config.convolution, width, (0, 1, 0))
        self.reading = HeadReading(config)
        if self.forgets:
            with torch.no_grad():
                self.gates.project.bias[heads:] = forget_bias(heads, config.longest)

    def forward(
        self, x: Tensor, state: DeltaState | None = None, mask: Tensor | None = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, DeltaState]:
        """x (B, T, D) → y (B, T, D), the memory and the convolution's tail after its last valid token."""
        memory, tail = (None, None) if state is None else state
        joined, tail = self.convolution(self.project(x), tail, mask, exchange)
        q, k, v = (split_heads(part, self.heads) for part in F.silu(joined).chunk(3, -1))
        q, k, v = self.entering((unit(q), unit(k), v))
        gates = self.gates(x)
        k, v, beta = keep(mask, k), keep(mask, v), keep(mask, gates[0].sigmoid())
        decay = keep(mask, F.logsigmoid(gates[1])) if self.forgets else None
        if exchange is not None:
            start = memory or Memory.empty(q.shape[0], q.shape[1], q.shape[3], v.shape[3], q)
            transition, mine = delta_transition(k, v, beta, decay=decay, block=self.block)
            memory = exchange.affine(transition, mine, start)
        y, memory = delta_rule(q, k, v, beta, memory, decay=decay, block=self.block, rescale=self.rescale)
        return self.reading(self.leaving(y), x), DeltaState(memory, tail)

    def log_decay(self, x: Tensor) -> Tensor | None:
        """x (B, T, D) → (B, H, T, 1); None: nothing is forgotten."""
        return F.logsigmoid(self.gates(x)[1]) if self.forgets else None


class GatedDelta(Delta):
    """The delta rule with a forget gate a head, spread at the start over time constants up to `config.longest`."""

    forgets = True


def unit(x: Tensor) -> Tensor:
    """x (B, H, T, K) at unit length, in the working precision."""
    return F.normalize(x.to(working_dtype(x)), dim=-1, eps=1e-6)
