"""Plain linear attention (Katharopoulos et al. 2020): every token seen is kept for ever, with the same weight rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor, nn

from longseq.model.mixers.attend import attend
from longseq.model.mixers.heads import join_heads, stack_heads
from longseq.ops.exchange import Exchange
from longseq.ops.feature_maps import feature_map
from longseq.ops.memory import Memory
from longseq.ops.padding import compact, take

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig


class LinearState(NamedTuple):
    memory: Memory
    """(B, H, K, V+1)."""


class Linear(nn.Module):
    """Queries, keys and values of one projection, a feature map, attention, an output projection."""

    state_type = LinearState

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        self.heads, self.block, self.rescale = config.heads, config.block, config.rescale
        self.segment = config.segment if config.visibility == "segment" else 0
        self.project = nn.Linear(config.width, 3 * config.width, bias=config.bias)
        self.map = feature_map(config.feature_map, config.heads, config.width // config.heads)
        self.output = nn.Linear(config.width, config.width, bias=config.bias)

    def forward(
        self, x: Tensor, state: LinearState | None = None, mask: Tensor | None = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, LinearState]:
        """x (B, T, D) → y (B, T, D) and the memory after its last valid token."""
        back = None
        if self.segment and mask is not None:
            # Segments count valid tokens: those come first.
            order, back = compact(mask)
            x, mask = take(x, order), mask.gather(1, order)
        y, memory = attend(
            self.map,
            stack_heads(self.project(x), 3, self.heads),
            None if state is None else state.memory,
            mask,
            exchange,
            segment=self.segment,
            block=self.block,
            rescale=self.rescale,
        )
        y = self.output(join_heads(y).to(x.dtype))
        return y if back is None else take(y, back), LinearState(memory)
