"""Plain linear attention (Katharopoulos et al. 2020): every token seen is kept for ever, with the same weight rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor, nn

from longseq.model.mixers.heads import join_heads, split_heads
from longseq.ops.exchange import Exchange
from longseq.ops.feature_maps import feature_map
from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import EMPTY, Memory
from longseq.ops.padding import keep

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig


class LinearState(NamedTuple):
    memory: Memory
    """(B, H, K, V+1)."""


class Linear(nn.Module):
    """Queries, keys and values of one projection, a feature map, attention, an output projection."""

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        self.heads, self.block, self.rescale = config.heads, config.block, config.rescale
        self.project = nn.Linear(config.width, 3 * config.width, bias=False)
        self.map = feature_map(config.feature_map, config.heads, config.width // config.heads)
        self.output = nn.Linear(config.width, config.width, bias=False)

    def forward(
        self, x: Tensor, state: LinearState | None = None, mask: Tensor | None = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, LinearState]:
        """x (B, T, D) → y (B, T, D) and the memory after its last valid token."""
        q, k, v = (split_heads(part, self.heads) for part in self.project(x).chunk(3, -1))
        q = self.map.query(q)
        k, exponent = self.map.key(k)
        k, v = keep(mask, k), keep(mask, v)
        if exponent is not None and mask is not None:
            exponent = exponent.masked_fill(~mask[:, None], EMPTY)
        options: dict[str, Any] = {
            "key_exponent": exponent,
            "eps": self.map.eps,
            "block": self.block,
            "rescale": self.rescale,
        }
        memory = None if state is None else state.memory
        if exchange is not None:
            start = memory or Memory.empty(q.shape[0], self.heads, k.shape[-1], v.shape[-1] + 1, q)
            _, mine = linear_attention(q, k, v, None, **options)
            memory = exchange.memory(mine, None, start)
        y, memory = linear_attention(q, k, v, memory, **options)
        return self.output(join_heads(y).to(x.dtype)), LinearState(memory)
