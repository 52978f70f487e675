"""The recurrence over the blocks of a span, S_n = f_n S_{n-1} + 2**c_n C_n, as one matrix product.

The products are float32; what is carried from span to span is float64, and the decay of a whole span is taken in
float64: a float32 factor, multiplied a thousand times, would drift by 1e-4.
"""

from __future__ import annotations

import torch
from torch import Tensor

from longseq.ops.memory import normalise, pow2


def fold_blocks(
    value: Tensor,
    exponent: Tensor,
    sums: Tensor,
    log2_decay: Tensor | None,
    incoming: Tensor | None,
    unit: Tensor | None,
    rescale: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Fold the sums of N blocks into a memory.

    Args:
        value: (B, H, K, W) float64, what came before, in units of `2**exponent`.
        exponent: (B, H) int32.
        sums: (B, H, N, K, W), what each block adds, in units of `2**incoming`.
        log2_decay: (B, H, N, K or 1), base-2 logarithm of the decay over each whole block, or None.
        incoming: (B, H, N) int32; None says that all sums are in units of `2**unit`.
        unit: (B, H) int32, the power of two of all sums where there is no `incoming`.
        rescale: move the power of two of what is left behind to its exponent.

    Returns:
        before: (B, H, N, K, W), the memory in front of each block, rounded to the dtype of `sums`.
        scale: (B, H, N) int32, the exponent of each `before`.
        value, exponent: what is left behind.
    """
    if unit is not None and log2_decay is None:
        return _plain_fold(value, exponent, sums, unit, rescale)
    batch, heads, count, keys, width = sums.shape
    dtype = sums.dtype
    # The power of two in front of each block, and at the end: (B, H, N + 1).
    if unit is not None:
        scale = unit[..., None].expand(-1, -1, count + 1)
    else:
        assert incoming is not None
        scale = torch.cat([exponent[..., None], incoming], -1).cummax(-1).values
    # What is left of the sum of block m in front of block n: 2**(c_m - scale_n), decayed by the blocks in between.
    shift = None if incoming is None else (incoming[..., None, :] - scale[..., :, None]).clamp_max(0)
    kept = pow2(exponent[..., None] - scale)[..., None, None]  # (B, H, N + 1, 1, 1)
    if log2_decay is None:
        assert shift is not None
        left = pow2(shift, dtype).tril(-1)
        added = (left @ sums.flatten(-2)).unflatten(-1, (keys, width))
    else:
        passed = torch.cat([log2_decay.new_zeros(batch, heads, 1, log2_decay.shape[-1]), log2_decay], 2)
        passed = passed.double().cumsum(2)  # (B, H, N + 1, K or 1)
        front = passed.mT
        # Differences in float64: after a strong decay a float32 total no longer resolves a weak one.
        gap = (front[..., :, None] - front[..., None, 1:]).to(dtype)
        left = gap.clamp_max(0).exp2()  # (B, H, K or 1, N + 1, N)
        if shift is not None:
            left = left * pow2(shift, dtype)[:, :, None]
        left = left.tril(-1)
        if log2_decay.shape[-1] == 1:
            added = (left[:, :, 0] @ sums.flatten(-2)).unflatten(-1, (keys, width))
        else:
            added = (left @ sums.transpose(2, 3)).transpose(2, 3)
        kept = kept * passed.exp2()[..., None]
    before = torch.addcmul(added[:, :, :-1], value.to(dtype)[:, :, None], kept[:, :, :-1].to(dtype))
    # Cloned: a view would keep the powers of all blocks.
    value, exponent = value * kept[:, :, -1] + added[:, :, -1], scale[..., -1].clone()
    if rescale:
        value, exponent = normalise(value, exponent)
    return before, scale[..., :-1], value, exponent


def _plain_fold(
    value: Tensor, exponent: Tensor, sums: Tensor, unit: Tensor, rescale: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Nothing decays and all is in one unit: a running sum."""
    value = value * pow2(exponent - unit)[..., None, None]
    start, added = value.to(sums.dtype)[:, :, None], sums.cumsum(2)
    before = torch.cat([start, added[:, :, :-1] + start], 2)
    value, exponent = value + added[:, :, -1], unit
    if rescale:
        value, exponent = normalise(value, exponent)
    return before, unit[..., None].expand(-1, -1, sums.shape[2]), value, exponent
