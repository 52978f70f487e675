"""Retention (Sun et al. 2023, "Retentive network", eq. 5-8): each attention head forgets at a fixed rate of its own.

Without the rotation of queries and keys: no positions are needed where the past fades.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor, nn

from longseq.model.mixers.gates import SHORTEST, HeadReading, time_constants
from longseq.model.mixers.heads import split_heads
from longseq.model.mixers.signed import attend_signed
from longseq.ops.exchange import Exchange
from longseq.ops.memory import Memory, working_dtype

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig


class RetentionState(NamedTuple):
    memory: Memory
    """(B, H, K, V)."""


class Retention(nn.Module):
    """Fixed decays, signed queries and keys, no denominator; time constants from 32 tokens to `config.longest`."""

    state_type = RetentionState

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        self.heads, self.block, self.rescale = config.heads, config.block, config.rescale
        self.scale = (config.width // config.heads) ** -0.5
        self.project = nn.Linear(config.width, 3 * config.width, bias=False)
        self.entering, self.leaving = nn.Identity(), nn.Identity()
        self.reading = HeadReading(config)
        # Numbers, not a buffer: a model cast to bfloat16 keeps its time constants.
        tau = time_constants(config.heads, SHORTEST, float(config.longest))
        self.rates: list[float] = (-1.0 / tau).log1p().tolist()

    def forward(
        self,
        x: Tensor,
        state: RetentionState | None = None,
        mask: Tensor | None = None,
        exchange: Exchange | None = None,
    ) -> tuple[Tensor, RetentionState]:
        """x (B, T, D) → y (B, T, D) and the memory after its last valid token."""
        parts = self.project(x).chunk(3, -1)
        q, k, v = self.entering(tuple(split_heads(part, self.heads) for part in parts))
        y, memory = attend_signed(
            q,
            k * self.scale,
            v,
            None if state is None else state.memory,
            mask,
            exchange,
            decay=self.log_decay(x),
            decay_bound=-min(self.rates),
            block=self.block,
            rescale=self.rescale,
        )
        return self.reading(self.leaving(y), x), RetentionState(memory)

    def log_decay(self, x: Tensor) -> Tensor:
        """x (B, T, D) → (B, H, T, 1), the same for every token."""
        return x.new_tensor(self.rates, dtype=working_dtype(x))[:, None, None].expand(len(x), -1, x.shape[1], 1)
