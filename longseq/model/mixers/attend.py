"""What the linear mixers share: map, mask, take up what stands before, attend."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from longseq.ops.exchange import Exchange
from longseq.ops.feature_maps import FeatureMap
from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import EMPTY, Memory
from longseq.ops.padding import keep
from longseq.ops.segments import segment_attention


def attend(
    features: FeatureMap,
    heads: Tensor,
    memory: Memory | None,
    mask: Tensor | None,
    exchange: Exchange | None,
    *,
    decay: Tensor | None = None,
    decay_bound: float | None = None,
    segment: int = 0,
    block: int,
    rescale: int,
) -> tuple[Tensor, Memory]:
    """Queries, keys and values (3, B, H, T, K) before the feature map, decay (B, H, T, K or 1) or None → y (B, H, T, K)
    and the memory after.

    With `segment` > 0 attention looks both ways inside segments of so many tokens, valid ones first in each lane.
    """
    q, k, exponent = features.pair(heads[:2])
    v = heads[2]
    # Masked after the map: elu(0) + 1 is 1.
    k, v = keep(mask, k), keep(mask, v)
    if decay is not None:
        decay = keep(mask, decay)
    if exponent is not None and mask is not None:
        exponent = exponent.masked_fill(~mask[:, None], EMPTY)

    def run(before: Memory | None) -> tuple[Tensor, Memory]:
        if segment:
            return segment_attention(
                q,
                k,
                v,
                before,
                segment=segment,
                key_exponent=exponent,
                eps=features.eps,
                floor=features.floor,
                rescale=rescale,
            )
        return linear_attention(
            q,
            k,
            v,
            before,
            decay=decay,
            decay_bound=decay_bound,
            key_exponent=exponent,
            eps=features.eps,
            floor=features.floor,
            block=block,
            rescale=rescale,
        )

    return take_up(run, memory, exchange, None if decay is None else decay.sum(2))


def take_up(
    run: Callable[[Memory | None], tuple[Tensor, Memory]],
    memory: Memory | None,
    exchange: Exchange | None,
    log_decay: Tensor | None = None,
) -> tuple[Tensor, Memory]:
    """`run` from `memory`, with an exchange behind the slices that stand before; `log_decay` (B, H, K or 1): of this
    whole slice."""
    if exchange is not None:
        _, mine = run(None)
        nothing = torch.zeros_like(mine.hi)
        start = memory or Memory(nothing, nothing, torch.full_like(mine.exponent, EMPTY))
        memory = exchange.memory(mine, log_decay, start)
    return run(memory)
