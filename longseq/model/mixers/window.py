"""Causal softmax attention over the last W tokens, with rotary positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.model.mixers.heads import join_heads, refuse_exchange, split_heads
from longseq.model.mixers.softmax import rotate
from longseq.ops.exchange import Exchange
from longseq.ops.padding import compact, take

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig

TILE = 128
"""Queries that meet their keys in one product: W - 1 + TILE keys at a time."""


class WindowState(NamedTuple):
    keys: Tensor
    """(B, W-1, H K), those of the last valid tokens, rotated, the latest last; zeros where there were not so many."""
    values: Tensor
    """(B, W-1, H V)."""
    seen: Tensor
    """(B,) int64, valid tokens so far."""


class Window(nn.Module):
    """Each token sees itself and the W-1 valid ones before it (Beltagy et al. 2020, "Longformer", section 3.1, causal).

    Time is linear in T and the state of one size.
    """

    state_type = WindowState

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        self.heads, self.window = config.heads, config.attention_window
        self.project = nn.Linear(config.width, 3 * config.width, bias=False)
        self.output = nn.Linear(config.width, config.width, bias=False)

    def forward(
        self, x: Tensor, state: WindowState | None = None, mask: Tensor | None = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, WindowState]:
        """x (B, T, D) → y (B, T, D), and the keys and values that later tokens may see."""
        refuse_exchange(exchange, "window")
        batch, length, _ = x.shape
        if mask is not None:
            # Valid tokens first: what is behind them is seen by none of them.
            order, back = compact(mask)
            x = take(x, order)
        q, k, v = self.project(x).chunk(3, -1)
        past = self.window - 1
        if state is None:
            none = k.new_zeros(batch, past, k.shape[-1])
            state = WindowState(none, none, torch.zeros(batch, dtype=torch.int64, device=x.device))
        position = state.seen[:, None] + torch.arange(length, device=x.device)
        q, k = (rotate(split_heads(part, self.heads), position) for part in (q, k))
        keys = torch.cat([state.keys.to(k.dtype), join_heads(k)], 1)
        values = torch.cat([state.values.to(v.dtype), v], 1)
        y = self.output(self._attend(q, split_heads(keys, self.heads), split_heads(values, self.heads), state.seen))
        if mask is None:
            # Copies: a view would keep the whole chunk.
            after = WindowState(keys[:, length:].clone(), values[:, length:].clone(), state.seen + length)
            return y, after
        valid = mask.sum(1)
        last = valid[:, None] + torch.arange(past, device=x.device)
        return take(y, back), WindowState(take(keys, last), take(values, last), state.seen + valid)

    def _attend(self, q: Tensor, keys: Tensor, values: Tensor, seen: Tensor) -> Tensor:
        """q (B, H, T, K) over keys and values (B, H, W-1 + T, ·), tile by tile → (B, T, H V)."""
        past, length = self.window - 1, q.shape[2]
        outputs = []
        for start in range(0, length, TILE):
            stop = min(start + TILE, length)
            column = torch.arange(stop - start + past, device=q.device)
            gap = column - torch.arange(stop - start, device=q.device)[:, None]
            allowed = (gap >= 0) & (gap <= past)  # query i sees keys i … i + W-1 of its tile
            if start < past:  # and none of the empty places at the record's start
                allowed = allowed & (column + start >= past - seen[:, None])[:, None, None]
            here = slice(start, stop + past)
            outputs.append(
                F.scaled_dot_product_attention(
                    q[:, :, start:stop], keys[:, :, here], values[:, :, here], attn_mask=allowed
                )
            )
        return join_heads(torch.cat(outputs, 2) if outputs else values[:, :, past:])
