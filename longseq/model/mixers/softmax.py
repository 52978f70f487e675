"""Softmax attention, causal or by segment: the baseline, whose state is every key and value seen; or inside segments
alone, as a Transformer reads windows, with nothing to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.errors import UsageError
from longseq.model.mixers.heads import join_heads, refuse_exchange, split_heads
from longseq.ops.exchange import Exchange
from longseq.ops.padding import compact, take

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig


class SoftmaxState(NamedTuple):
    keys: Tensor
    """(B, H, S, K), rotated where positions are. S is 0 where no segment sees another."""
    values: Tensor
    """(B, H, S, V)."""
    valid: Tensor
    """(B, S) bool."""


class Softmax(nn.Module):
    state_type = SoftmaxState

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        self.heads, self.capacity = config.heads, config.capacity
        self.segment = config.segment if config.visibility == "segment" else 0
        self.across, self.rotary = config.across, config.positions == "rotary"
        self.project = nn.Linear(config.width, 3 * config.width, bias=config.bias)
        self.entering, self.leaving = nn.Identity(), nn.Identity()
        self.output = nn.Linear(config.width, config.width, bias=config.bias)

    def forward(
        self, x: Tensor, state: SoftmaxState | None = None, mask: Tensor | None = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, SoftmaxState]:
        """x (B, T, D) → y (B, T, D) and all keys and values so far.

        Raises:
            UsageError: more tokens than `model.capacity`.
        """
        refuse_exchange(exchange, "softmax")
        if not self.across:
            return self._windows(x, mask)
        batch, length, _ = x.shape
        past = 0 if state is None else state.keys.shape[2]
        if past + length > self.capacity:
            raise UsageError(
                where="model.capacity",
                expected=f"at most {self.capacity} tokens a record for softmax attention",
                found=f"{past + length}",
                remedy="its state grows with the record: use a linear or gated model",
            )
        valid = torch.ones(batch, length, dtype=torch.bool, device=x.device) if mask is None else mask
        seen = valid.cumsum(1) - 1
        if state is not None:
            seen = seen + state.valid.sum(1, keepdim=True)
        q, k, v = (split_heads(part, self.heads) for part in self.project(x).chunk(3, -1))
        if self.rotary:
            q, k = rotate(q, seen), rotate(k, seen)
        q, k, v = self.entering((q, k, v))
        if state is not None:
            k = torch.cat([state.keys.to(k.dtype), k], 2)
            v = torch.cat([state.values.to(v.dtype), v], 2)
            valid = torch.cat([state.valid, valid], 1)
        if self.segment:
            # A token sees its own segment, behind it and ahead, and all earlier ones.
            of_key = (valid.cumsum(1) - 1).div(self.segment, rounding_mode="floor")
            of_query = seen.div(self.segment, rounding_mode="floor")
            allowed = (of_key[:, None] <= of_query[:, :, None]) & valid[:, None]
            row = torch.arange(length, device=x.device)[:, None] + past
            allowed = allowed | (torch.arange(past + length, device=x.device) == row)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed[:, None])
        elif past == 0 and mask is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            row = torch.arange(length, device=x.device)[:, None] + past
            column = torch.arange(past + length, device=x.device)
            # The diagonal is kept so that a masked row has something to look at: its result is not used.
            allowed = (column <= row) & valid[:, None, None, :] | (column == row)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.output(join_heads(self.leaving(y))), SoftmaxState(k, v, valid)

    def _windows(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, SoftmaxState]:
        """Each segment by itself; the first token begins one."""
        batch, length, _ = x.shape
        back = None
        if mask is not None:
            # Segments count valid tokens: those come first.
            order, back = compact(mask)
            x, mask = take(x, order), mask.gather(1, order)
        heads = self.project(x)
        # A short segment of its own, or one shape for all and the last one padded.
        width = min(self.segment, length) or 1
        padding = -length % width
        heads = F.pad(heads, (0, 0, 0, padding)).unflatten(1, (-1, width)).flatten(0, 1)
        allowed = None
        if mask is not None or padding:
            valid = torch.ones(batch, length, dtype=torch.bool, device=x.device) if mask is None else mask
            valid = F.pad(valid, (0, padding)).unflatten(1, (-1, width)).flatten(0, 1)
            # The diagonal is kept so that a masked row has something to look at: its result is not used.
            allowed = (valid[:, None] | torch.eye(width, dtype=torch.bool, device=x.device))[:, None]
        q, k, v = (split_heads(part, self.heads) for part in heads.chunk(3, -1))
        if self.rotary:
            place = torch.arange(width, device=x.device)[None]
            q, k = rotate(q, place), rotate(k, place)
        q, k, v = self.entering((q, k, v))
        y = join_heads(self.leaving(F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)))
        y = self.output(y.unflatten(0, (batch, -1)).flatten(1, 2)[:, :length])
        nothing = y.new_zeros(batch, self.heads, 0, y.shape[-1] // self.heads)
        state = SoftmaxState(nothing, nothing, torch.zeros(batch, 0, dtype=torch.bool, device=x.device))
        return y if back is None else take(y, back), state


def rotate(x: Tensor, position: Tensor) -> Tensor:
    """Rotary positions (Su et al. 2021, eq. 34): x (B, H, T, K) at position (B, T), base 10,000."""
    half = x.shape[-1] // 2
    rate = 10000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    # In float64: float32 angles of the hundred-millionth token are 8 radians apart.
    angle = position[:, None, :, None].double() * rate
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    left, right = x.split(half, -1)
    return torch.cat([left * cosine - right * sine, right * cosine + left * sine], -1)
