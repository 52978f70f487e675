"""Causal linear attention in block form, with an optional decay.

Per attention head, with q and k after the feature map and a column of ones behind v (Katharopoulos et al. 2020,
"Transformers are RNNs", eq. 9-20; Yang et al. 2024, "Gated linear attention", section 4 for the block form):

    S_t = diag(exp g_t) S_{t-1} + 2**c_t k_t [v_t, 1]ᵀ        y_t = (q_t S_t)[:V] / ((q_t S_t)[V] + eps)

Blocks are tiles of time: speed and rounding depend on them, the result does not.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from longseq.ops.memory import Memory, pow2, working_dtype
from longseq.ops.scan import scan_blocks

SUB_BLOCK = 16
"""Rows of a sub-block in which decays of any strength are taken apart pairwise."""
SAFE_EXPONENT = 80.0
"""exp of this, times a float32 of size one, stays below the largest float32 (exp 88.7)."""


def linear_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    memory: Memory | None = None,
    *,
    decay: Tensor | None = None,
    decay_bound: float | None = None,
    key_exponent: Tensor | None = None,
    normaliser: bool = True,
    eps: float = 0.0,
    floor: float = 0.0,
    block: int = 64,
    rescale: int = 64,
) -> tuple[Tensor, Memory]:
    """Attend to everything up to and including each token, and to what `memory` holds.

    A masked token has k = 0, v = 0, decay 0 and `key_exponent` EMPTY, and then leaves the memory as it was.

    Args:
        q, k: (B, H, T, K) after the feature map; not negative where `normaliser` is on.
        v: (B, H, T, V).
        memory: what earlier calls left, or None.
        decay: (B, H, T, K) or (B, H, T, 1) log-decay g <= 0 before each token is added, or None.
        decay_bound: a promise that `decay >= -decay_bound`; bounded decays are plain matrix products when
            `decay_bound * block <= 80`. Without it any decay is safe, and slower.
        key_exponent: (B, H, T) int32; key t counts `2**key_exponent` times. None is 0.
        normaliser: divide by the sum of the weights.
        eps: added to the denominator, in the memory's true scale.
        floor: above 0, the denominator is the larger of its absolute value and this, in the memory's true scale, and q
            and k may be negative (Beck et al. 2024, "xLSTM", eq. 21).
        block: tokens a tile.
        rescale: blocks between two renormalisations, and one at the end of the call; 0 never.

    Returns:
        y: (B, H, T, V) in the working precision (float32, or float64 for float64), and the memory after the last token.
    """
    dtype = working_dtype(q)
    length = q.shape[2]
    with torch.autocast(q.device.type, enabled=False):
        q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
        decay = None if decay is None else decay.to(dtype)
        if normaliser:
            v = torch.cat([v, v.new_ones(*v.shape[:-1], 1)], -1)
        if memory is None:
            memory = Memory.empty(q.shape[0], q.shape[1], q.shape[3], v.shape[3], q)
        outputs = []
        whole = length - length % block
        # Whole tiles together, then the rest as one shorter tile: no padding.
        for start, stop, size in ((0, whole, block), (whole, length, length - whole)):
            if stop > start:
                tiles = [_tile(x, start, stop, size) for x in (q, k, v, decay, key_exponent)]
                y, memory = _tiles(tiles, memory, decay_bound, normaliser, eps, floor, rescale)
                outputs.append(y)
        if not outputs:
            return v[..., : v.shape[-1] - normaliser], memory
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs, 2), memory


def _tile(x: Tensor | None, start: int, stop: int, size: int) -> Tensor | None:
    """(B, H, T, …) → (B, H, N, size, …) of tokens start … stop."""
    return None if x is None else x[:, :, start:stop].unflatten(2, (-1, size))


def _tiles(
    tiles: Any, memory: Memory, bound: float | None, normaliser: bool, eps: float, floor: float, rescale: int
) -> tuple[Tensor, Memory]:
    """All tiles at once: q, k (B, H, N, C, K), v (B, H, N, C, W), decay (B, H, N, C, K or 1) and key exponent
    (B, H, N, C), either of them None."""
    q, k, v, decay, exponent = tiles
    dtype = q.dtype
    largest = None
    keys = k
    if exponent is not None:
        largest = exponent.amax(-1)
        keys = k * pow2(exponent - largest[..., None], dtype)[..., None]
    if decay is None:
        total, reader = None, q
        weights = q @ k.mT
        sums = keys.mT @ v
    else:
        passed = decay.cumsum(-2)  # log of what is left at t of what stood before the tile
        total = passed[..., -1, :]
        reader = q * passed.exp()
        if bound is not None and bound * q.shape[-2] <= SAFE_EXPONENT:
            # exp(-b) by itself: the gradient of a quotient would square exp(b) and lose it.
            weights = reader @ (k * (-passed).exp()).mT
        else:
            weights = _any_decay(q, k, passed)
        sums = (keys * (total[..., None, :] - passed).exp()).mT @ v
    before, scale, memory = scan_blocks(memory, sums, total, largest, rescale)
    past = reader @ before
    size = q.shape[-2]
    causal = torch.ones(size, size, dtype=torch.bool, device=q.device).tril()
    # Selected, not multiplied: the upper half may be infinite.
    weights = weights.masked_fill(~causal, 0.0)
    if exponent is None:
        reached = scale.clamp_min(0)[..., None]  # the power of two in which row t is summed, (B, H, N, 1)
        out = past * pow2(scale[..., None] - reached, dtype)[..., None]
        out = out + (weights @ v) * pow2(-reached, dtype)[..., None]
    else:
        reached = torch.maximum(scale[..., None], exponent.cummax(-1).values)  # (B, H, N, C)
        lag = (exponent[..., None, :] - reached[..., :, None]).masked_fill(~causal, 0)
        out = past * pow2(scale[..., None] - reached, dtype)[..., None] + (weights * pow2(lag, dtype)) @ v
    if normaliser:
        below = out[..., -1:]
        if eps:
            below = below + eps * pow2(-reached, dtype)[..., None]
        if floor:
            below = torch.maximum(below.abs(), floor * pow2(-reached, dtype)[..., None])
        out = out[..., :-1] / (below + (below == 0))  # nothing seen yet: 0 / 1
    else:
        out = out * pow2(reached, dtype)[..., None]
    return out.flatten(2, 3), memory


def _any_decay(q: Tensor, k: Tensor, passed: Tensor) -> Tensor:
    """`sum_K q_t k_s exp(b_t - b_s)` for s <= t, every exponent <= 0: (B, H, N, C, C); the upper half is arbitrary.

    Rows are taken in sub-blocks. Keys before the sub-block meet queries at its first row, a product of two factors
    <= 1; keys inside it are taken pairwise.
    """
    if passed.shape[-1] == 1:
        gap = passed - passed.mT
        return (q @ k.mT) * gap.clamp_max(0).exp()
    size = q.shape[-2]
    rows = []
    for start in range(0, size, SUB_BLOCK):
        stop = min(start + SUB_BLOCK, size)
        here, b = q[..., start:stop, :], passed[..., start:stop, :]
        gap = (b[..., :, None, :] - b[..., None, :, :]).clamp_max(0)
        inside = (here[..., :, None, :] * k[..., None, start:stop, :] * gap.exp()).sum(-1)
        parts = [inside, q.new_zeros(*inside.shape[:-1], size - stop)]
        if start:
            door = passed[..., start - 1 : start, :]
            earlier = k[..., :start, :] * (door - passed[..., :start, :]).exp()
            parts.insert(0, (here * (b - door).exp()) @ earlier.mT)
        rows.append(torch.cat(parts, -1))
    return torch.cat(rows, -2)
