"""Linear attention for mixers whose queries and keys have signs, and so no feature map."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from longseq.ops.exchange import Exchange
from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import EMPTY, Memory
from longseq.ops.padding import keep


def attend_signed(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    memory: Memory | None,
    mask: Tensor | None,
    exchange: Exchange | None,
    *,
    decay: Tensor,
    key_exponent: Tensor | None = None,
    floor: float = 0.0,
    **options: Any,
) -> tuple[Tensor, Memory]:
    """Mask, take up what stands before, attend.

    q, k (B, H, T, K), v (B, H, T, V), decay (B, H, T, 1), key_exponent (B, H, T); a floor means a denominator;
    `options` are those of `linear_attention`. Returns y (B, H, T, V) and the memory after.
    """
    k, v, decay = keep(mask, k), keep(mask, v), keep(mask, decay)
    if key_exponent is not None and mask is not None:
        key_exponent = key_exponent.masked_fill(~mask[:, None], EMPTY)
    options |= {"decay": decay, "key_exponent": key_exponent, "normaliser": floor > 0, "floor": floor}
    if exchange is not None:
        columns = v.shape[-1] + (floor > 0)
        start = memory or Memory.empty(q.shape[0], q.shape[1], k.shape[-1], columns, q)
        memory = exchange.memory(linear_attention(q, k, v, None, **options)[1], decay.sum(2), start)
    return linear_attention(q, k, v, memory, **options)
