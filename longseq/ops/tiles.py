"""Linear attention over one span of whole blocks, all blocks at once: plain differentiable operations.

Inside a block every pair of tokens meets (a small square matrix); what stands before the block is read from the memory
in front of it, which `fold_blocks` makes for all blocks together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from longseq.ops.fold import fold_blocks
from longseq.ops.memory import pow2

LOG2_E = math.log2(math.e)
SUB_BLOCK = 16
"""Rows of a sub-block in which decays of any strength are taken apart pairwise."""
HEADROOM = 64
"""A memory is read in true scale up to this power of two; beyond it, with everything beside it, in units of its own."""
LOST = {torch.float32: 2.0**-100, torch.float64: 2.0**-900}
"""Sums of weights below which gradients stop."""
SAFE_EXPONENT = 80.0
"""exp of half of this, times sums of products of float32 inputs up to 1e6, stays below the largest float32."""


@dataclass(frozen=True)
class Rule:
    """What is seen, and how weights become an output; see `linear_attention`."""

    normaliser: bool
    eps: float
    floor: float
    bound: float | None
    both_ways: bool = False
    """See all of the own block, not only what stands before; without decays."""


def attend_span(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor | None,
    exponents: Tensor | None,
    value: Tensor,
    exponent: Tensor,
    size: int,
    rescale: bool,
    rule: Rule,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Attend within a span and to the memory in front of it.

    Args:
        q, k: (B, H, T, K), T a multiple of `size`.
        v: (B, H, T, V).
        decay: (B, H, T, K or 1) log-decay, or None.
        exponents: (B, H, T) int32 powers of two of the keys, or None.
        value, exponent: the memory, (B, H, K, V+1) float64 and (B, H) int32; V columns without a normaliser.
        size: tokens a block.
        rescale: renormalise the memory after the span.

    Returns:
        over: (B, H, T, V) and under: (B, H, T, 1), whose quotient is the output; and the memory after the span.
    """
    batch, heads, length, _ = q.shape
    dtype, shape = q.dtype, (batch, heads, length // size)
    if rule.normaliser:
        v = F.pad(v, (0, 1), value=1.0)
    incoming = unit = reached = None
    if exponents is None:
        unit = (exponent - HEADROOM).clamp_min(0)
        shift = unit[..., None, None]
        scaled = k.device.type != "cpu" or bool(unit.any())  # on other devices looking costs more than multiplying
        if scaled:
            k = k * pow2(-shift, dtype)
    q, v = _blocks(q, size), _blocks(v, size)
    k = _blocks(k, size)
    keys, half, total = k, None, None
    if exponents is not None:
        exponents = exponents.reshape(*shape, size)
        incoming = exponents.amax(-1)
        keys = k * pow2(exponents - incoming[..., None], dtype).flatten(0, 2)[..., None]
    if decay is None:
        reader, weights = q, None if rule.both_ways else q @ k.mT
    else:
        passed = _blocks(decay * LOG2_E, size)
        bounded = rule.bound is not None and rule.bound * size <= SAFE_EXPONENT
        # log2 of what is left at t of what stood before the block. Without a bound in float64: after a strong decay a
        # float32 sum no longer resolves a weak one.
        passed = (passed if bounded else passed.double()).cumsum(-2)
        total = passed[:, -1:]
        if bounded and decay.shape[-1] > 1:
            # From the middle of what the block forgets, so that neither factor is far from one.
            middle = total / 2
            half = middle.exp2()
            passed = passed - middle
            # exp2(-b) by itself: the gradient of a quotient would square exp2(b) and lose it.
            reader, fresh = q * passed.exp2(), (-passed).exp2()
            weights = torch.bmm(reader, (k * fresh).mT)
            keys = keys * fresh
        else:
            reader = q * passed.to(dtype).exp2()
            weights = _any_decay(q, k, passed)
            keys = keys * (total - passed).to(dtype).exp2()
        total = total.reshape(*shape, -1)
    sums = torch.bmm(keys.mT, v)
    if half is not None:
        sums = sums * half.mT
    before, scale, value, exponent = fold_blocks(
        value, exponent, sums.unflatten(0, shape), total, incoming, unit, rescale
    )
    if weights is None:
        # All queries of a block see the same keys, so no two tokens need meet.
        own = scale if incoming is None else incoming
        reached = torch.maximum(scale, own)[..., None, None]  # (B, H, N, 1, 1)
        before = before * pow2(scale[..., None, None] - reached, dtype)
        seen = before + sums.unflatten(0, shape) * pow2(own[..., None, None] - reached, dtype)
        out = torch.bmm(q, seen.flatten(0, 2)).unflatten(0, shape)
    else:
        before = before.flatten(0, 2)
        out = torch.bmm(reader, before if half is None else before * half.mT)
        # Selected, not multiplied: the upper half may be infinite.
        weights = weights.tril_()
        if exponents is None:
            out = out.baddbmm_(weights, v).unflatten(0, shape)
            reached = shift[..., None] if scaled else None
        else:
            reached = torch.maximum(scale[..., None], exponents.cummax(-1).values)  # (B, H, N, C)
            lag = (exponents[..., None, :] - reached[..., :, None]).clamp_max(0)
            out = out.unflatten(0, shape) * pow2(scale[..., None] - reached, dtype)[..., None]
            out = out + (weights.unflatten(0, shape) * pow2(lag, dtype)) @ v.unflatten(0, shape)
            reached = reached[..., None]
    over, under = quotient(out, reached, rule)
    return over.flatten(2, 3), under.flatten(2, 3), value, exponent


def _blocks(x: Tensor, size: int) -> Tensor:
    """(B, H, T, C) → (B H N, size, C), contiguous."""
    return x.reshape(-1, size, x.shape[-1])


def quotient(out: Tensor, reached: Tensor | None, rule: Rule) -> tuple[Tensor, Tensor]:
    """out (B, H, N, C, V+1) in units of `2**reached`, None is 1 → (B, H, N, C, V) and (B, H, N, C, 1)."""
    unit: Tensor | float = 1.0 if reached is None else pow2(-reached, out.dtype)
    if not rule.normaliser:
        return out, out.new_ones(1, 1, 1, 1, 1).mul(unit).expand(*out.shape[:-1], 1)
    under = out[..., -1:]
    if rule.eps:
        under = under + rule.eps * unit
    if rule.floor:
        under = torch.maximum(under.abs(), under.new_ones(()) * rule.floor * unit)
    elif not rule.eps and torch.is_grad_enabled():
        # Keys so far from the query that what is left of them is hardly a number: read, but not learnt from, since a
        # gradient divided by it would overflow.
        out = torch.where(under.abs() < LOST[out.dtype], out.detach(), out)
        under = out[..., -1:]
    if reached is not None or not rule.eps:
        under = under + (under == 0)  # nothing seen yet, or too small to be told from nothing: 0 / 1
    return out[..., :-1], under


def _any_decay(q: Tensor, k: Tensor, passed: Tensor) -> Tensor:
    """`sum_K q_t k_s 2**(b_t - b_s)` for s <= t, every exponent <= 0: (N, C, C); the upper half is arbitrary.

    Rows are taken in sub-blocks. Keys before the sub-block meet queries at its first row, a product of two factors
    <= 1; keys inside it are taken pairwise.
    """
    dtype = q.dtype
    if passed.shape[-1] == 1:
        return (q @ k.mT) * (passed - passed.mT).to(dtype).clamp_max(0).exp2()
    size = q.shape[-2]
    rows = []
    for start in range(0, size, SUB_BLOCK):
        stop = min(start + SUB_BLOCK, size)
        here, b = q[..., start:stop, :], passed[..., start:stop, :]
        gap = (b[..., :, None, :] - b[..., None, :, :]).to(dtype).clamp_max(0)
        inside = (here[..., :, None, :] * k[..., None, start:stop, :] * gap.exp2()).sum(-1)
        parts = [inside, q.new_zeros(*inside.shape[:-1], size - stop)]
        if start:
            door = passed[..., start - 1 : start, :]
            earlier = k[..., :start, :] * (door - passed[..., :start, :]).to(dtype).exp2()
            parts.insert(0, (here * (b - door).to(dtype).exp2()) @ earlier.mT)
        rows.append(torch.cat(parts, -1))
    return torch.cat(rows, -2)
