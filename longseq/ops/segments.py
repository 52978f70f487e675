"""Linear attention that looks both ways inside a segment and back across segments.

A segment's queries all see the same keys, so no triangle is needed and each token counts once:

    y = (q (S + KᵀV)) / (q (z + Kᵀ1) + eps)        S' = S + KᵀV,  z' = z + Kᵀ1
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from longseq.ops.memory import Memory, pow2, working_dtype
from longseq.ops.scan import scan_blocks


def segment_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    memory: Memory | None = None,
    *,
    segment: int,
    key_exponent: Tensor | None = None,
    eps: float = 0.0,
    floor: float = 0.0,
    rescale: int = 64,
) -> tuple[Tensor, Memory]:
    """Attend to the whole of each token's segment and to all before it.

    The first token begins a segment; the last segment may be short, and is then the last of its record. Masked tokens
    have k = 0, v = 0 and `key_exponent` EMPTY, and stand behind the valid ones: segments count what is given.

    Args:
        q, k: (B, H, T, K) after the feature map.
        v: (B, H, T, V).
        memory: what earlier segments left, or None.
        segment: tokens a segment.
        key_exponent: (B, H, T) int32; key t counts `2**key_exponent` times. None is 0.
        eps: added to the denominator, in the memory's true scale.
        floor: above 0, the least the denominator can be, in the memory's true scale.
        rescale: segments between two renormalisations, and one at the end of the call; 0 never.

    Returns:
        y: (B, H, T, V) in the working precision, and the memory (B, H, K, V+1) after the last token.
    """
    dtype = working_dtype(q)
    length = q.shape[2]
    with torch.autocast(q.device.type, enabled=False):
        q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
        v = torch.cat([v, v.new_ones(*v.shape[:-1], 1)], -1)
        if memory is None:
            memory = Memory.empty(q.shape[0], q.shape[1], q.shape[3], v.shape[3], q)
        outputs = []
        whole = length - length % segment
        # Whole segments together, then the rest as one shorter segment.
        for start, stop, size in ((0, whole, segment), (whole, length, length - whole)):
            if stop > start:
                tiles = [
                    None if x is None else x[:, :, start:stop].unflatten(2, (-1, size)) for x in (q, k, v, key_exponent)
                ]
                y, memory = _segments(tiles, memory, eps, floor, rescale)
                outputs.append(y)
        if not outputs:
            return v[..., :-1], memory
        return torch.cat(outputs, 2), memory


def _segments(tiles: Any, memory: Memory, eps: float, floor: float, rescale: int) -> tuple[Tensor, Memory]:
    """All segments at once: q, k (B, H, N, C, K), v (B, H, N, C, V+1), key exponent (B, H, N, C) or None."""
    q, k, v, exponent = tiles
    dtype = q.dtype
    largest = None
    if exponent is not None:
        largest = exponent.amax(-1)
        k = k * pow2(exponent - largest[..., None], dtype)[..., None]
    sums = k.mT @ v
    before, scale, memory = scan_blocks(memory, sums, None, largest, rescale)
    own = torch.zeros_like(scale) if largest is None else largest
    reached = torch.maximum(scale, own)  # (B, H, N), the power of two in which a segment is read
    seen = before * pow2(scale - reached, dtype)[..., None, None] + sums * pow2(own - reached, dtype)[..., None, None]
    out = q @ seen
    below = out[..., -1:]
    unit = pow2(-reached, dtype)[..., None, None]
    if eps:
        below = below + eps * unit
    if floor:
        below = torch.maximum(below.abs(), floor * unit)
    return (out[..., :-1] / (below + (below == 0))).flatten(2, 3), memory  # nothing seen: 0 / 1
