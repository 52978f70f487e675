"""Plain linear attention (Katharopoulos et al. 2020): every token seen is kept for ever, with the same weight rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from longseq.model.mixers.attend import attend, take_up
from longseq.model.mixers.heads import join_heads, stack_heads
from longseq.ops.exchange import Exchange
from longseq.ops.feature_maps import feature_map
from longseq.ops.gated_segments import Shares, gated_segment_attention
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
        self.window, self.framed = config.softmax_window, bool(config.frame)
        self.project = nn.Linear(config.width, 3 * config.width, bias=config.bias)
        self.entering, self.leaving = nn.Identity(), nn.Identity()
        self.map = feature_map(config.feature_map, config.heads, config.width // config.heads)
        self.gain = nn.Parameter(torch.zeros(config.heads)) if self.window else None
        self.gate = nn.Parameter(torch.zeros(config.heads)) if config.memory_gate else None
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
        heads = self.entering(stack_heads(self.project(x), 3, self.heads))
        before = None if state is None else state.memory
        if self.gain is None and self.gate is None and not self.framed:
            y, memory = attend(
                self.map,
                heads,
                before,
                mask,
                exchange,
                segment=self.segment,
                block=self.block,
                rescale=self.rescale,
            )
        else:
            kept = text(x.shape[:2], mask, self.segment, x.device) if self.framed else None

            def run(before: Memory | None) -> tuple[Tensor, Memory]:
                return gated_segment_attention(
                    self.map,
                    heads,
                    before,
                    segment=self.segment,
                    window=self.window,
                    shares=Shares(self.gain, self.gate),
                    valid=mask,
                    kept=kept,
                    rescale=self.rescale,
                )

            y, memory = take_up(run, before, exchange)
        y = self.output(join_heads(self.leaving(y)).to(x.dtype))
        return y if back is None else take(y, back), LinearState(memory)


def text(shape: torch.Size, valid: Tensor | None, segment: int, device: torch.device) -> Tensor:
    """(B, T) bool: neither the first nor the last valid token of a segment, which are special ones. `valid` (B, T): the
    first tokens of each lane; None: all are."""
    place = torch.arange(shape[1], device=device)
    last = shape[1] - 1 if valid is None else valid.sum(1, keepdim=True) - 1
    inner = (place % segment != 0) & (place % segment != segment - 1) & (place < last)
    return inner.expand(shape)
