"""Linear attention that looks both ways inside a segment and back across segments.

A segment's queries all see the same keys, so no triangle is needed and each token counts once:

    y = (q (S + KᵀV)) / (q (z + Kᵀ1) + eps)        S' = S + KᵀV,  z' = z + Kᵀ1
"""

from __future__ import annotations

from torch import Tensor

from longseq.ops.linear_attention import attend_blocks
from longseq.ops.memory import Memory
from longseq.ops.tiles import Rule


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
        rescale: spans (32 segments, at most 2048 tokens, at least one segment) between two renormalisations, and one
            at the end of the call; 0 never.

    Returns:
        y: (B, H, T, V) in the working precision, and the memory (B, H, K, V+1) after the last token.
    """
    rule = Rule(normaliser=True, eps=eps, floor=floor, bound=None, both_ways=True)
    return attend_blocks((q, k, v, None, key_exponent), memory, segment, rescale, rule)
