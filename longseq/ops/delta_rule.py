"""The delta rule in block form, with an optional decay: a memory that corrects what it holds.

Per attention head, keys of unit length (Yang et al. 2024, "Parallelizing linear transformers with the delta rule over
sequence length", section 3; Yang et al. 2025, "Gated delta networks", eq. 10):

    S_t = e^{g_t} (I - beta_t k_t k_tᵀ) S_{t-1} + beta_t k_t v_tᵀ        y_t = q_t S_t

A tile solves its tokens' corrections of one another in one unit lower-triangular system (the WY form); only the memory
passes from tile to tile. Every exponential has an exponent <= 0, so decays of any strength are safe.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from longseq.ops.memory import Memory, normalise, working_dtype, working_precision

SPAN = 16
"""Tiles taken together: enough for batched products, few enough for the cache (a third faster than all at once)."""
LONG = 16384
"""Tokens of a call beyond which the backward pass computes each span again: a quarter slower, a tenth of the memory."""


def delta_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    memory: Memory | None = None,
    *,
    decay: Tensor | None = None,
    block: int = 64,
    rescale: int = 64,
) -> tuple[Tensor, Memory]:
    """Read after each token has written what the memory did not yet say.

    A masked token has k = 0, v = 0, beta = 0 and decay 0, and then leaves the memory as it was.

    Args:
        q: (B, H, T, K).
        k: (B, H, T, K), of unit length or zero.
        v: (B, H, T, V).
        beta: (B, H, T, 1) in [0, 1], how far a token moves the memory's answer to its key towards its value.
        memory: what earlier calls left, (B, H, K, V) without a normaliser, or None.
        decay: (B, H, T, 1) log-decay g <= 0 of any strength before each token is written, or None.
        block: tokens a tile.
        rescale: above 0, the memory's power of two moves to its exponent at the end of the call; 0 leaves it. Within
            a call the memory is float64 in true scale, which holds whatever float32 values add up to.

    Returns:
        y: (B, H, T, V) in the working precision (float32, or float64 for float64), in true scale, and the memory after
        the last token.
    """
    dtype = working_dtype(q)
    with working_precision(q):
        if memory is None:
            memory = Memory.empty(q.shape[0], q.shape[1], q.shape[3], v.shape[3], q)
        value = memory.value()
        outputs = []
        for tiles in _spans(q.shape[2], block, *_cast(dtype, q, k, v, beta), decay):
            if k.shape[2] > LONG and torch.is_grad_enabled():
                y, value = checkpoint(_read, value, *tiles, use_reentrant=False, preserve_rng_state=False)
            else:
                y, value = _read(value, *tiles)
            outputs.append(y)
        if not outputs:
            return v.to(dtype), memory
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs, 2), _leave(value, rescale, dtype)


def delta_transition(
    k: Tensor, v: Tensor, beta: Tensor, *, decay: Tensor | None = None, block: int = 64
) -> tuple[Tensor, Memory]:
    """What a whole slice of tokens does to any memory S in front of it: S' = M S + N.

    Args:
        k, v, beta, decay: as in `delta_rule`.

    Returns:
        M: (B, H, K, K) float64, and N as a memory (B, H, K, V).
    """
    dtype = working_dtype(k)
    batch, heads, length, keys = k.shape
    with working_precision(k):
        # K more value columns, in which nothing is written and the memory begins as the identity: they end as M.
        k, v, beta = _cast(dtype, k, v, beta)
        value = torch.eye(keys, dtype=torch.float64, device=k.device).expand(batch, heads, -1, -1)
        value = torch.cat([value.new_zeros(batch, heads, keys, v.shape[-1]), value], -1)
        v = torch.cat([v, v.new_zeros(batch, heads, length, keys)], -1)
        for tiles in _spans(length, block, k, v, beta, decay):
            tile = _prepare(*tiles)
            value = _Fold.apply(value, tile.added, tile.erased, tile.keys, tile.fade)[2]
        mine, transition = value.split([value.shape[-1] - keys, keys], -1)
        return transition, _leave(mine, 1, dtype)


def _cast(dtype: torch.dtype, *tensors: Tensor) -> list[Tensor]:
    return [x.to(dtype) for x in tensors]


def _spans(length: int, block: int, *tensors: Tensor | None) -> Iterator[list]:
    """Each (B, H, T, …), or None, as (B, H, N, C, …) of up to SPAN whole tiles at a time; the rest as a shorter one."""
    whole = length - length % block
    starts = [*range(0, whole, SPAN * block), whole]
    for start, stop in zip(starts, [*starts[1:], length], strict=True):
        if stop > start:
            size = min(block, stop - start)
            yield [None if x is None else x[:, :, start:stop].unflatten(2, (-1, size)) for x in tensors]


def _leave(value: Tensor, rescale: int, dtype: torch.dtype) -> Memory:
    """A float64 value (B, H, K, V) in true scale as a memory."""
    exponent = value.new_zeros(value.shape[:2], dtype=torch.int32)
    if rescale:
        value, exponent = normalise(value, exponent)
    return Memory.split(value, exponent, dtype)


class _Tile(NamedTuple):
    """What is known of N tiles before the memory in front of them is."""

    added: Tensor
    """(B, H, N, C, V), what each token writes into an empty memory (U)."""
    erased: Tensor
    """(B, H, N, C, K): each token writes `added - erased S` if S stands before its tile (W)."""
    keys: Tensor
    """(B, H, N, C, K), keys decayed to the end of their tile."""
    fade: Tensor | None
    """(B, H, N, 1, 1) float64, the decay of a whole tile."""
    passed: Tensor | None
    """(B, H, N, C, 1), the decay from the front of the tile up to and including each token."""
    left: Tensor | None
    """(B, H, N, C, C), what is left at row t of column s <= t (G); 1 above the diagonal."""


def _prepare(k: Tensor, v: Tensor, beta: Tensor, decay: Tensor | None) -> _Tile:
    dtype = k.dtype
    fade = passed = left = None
    aim, keys = beta * k, k
    within = (aim @ k.mT).tril(-1)
    if decay is not None:
        # In float64: behind a gate of -80 a float32 sum no longer knows the small gates that follow.
        total = decay.double().cumsum(-2)
        size = k.shape[-2]
        later = torch.ones(size, size, dtype=torch.bool, device=k.device).triu(1)
        left = (total - total.mT).masked_fill(later, 0.0).to(dtype).exp()
        within = within * left
        passed = total.to(dtype).exp()
        aim = aim * passed
        end = total[..., -1:, :]
        fade, keys = end.exp(), k * (end - total).to(dtype).exp()
    solved = torch.linalg.solve_triangular(within, torch.cat([beta * v, aim], -1), upper=False, unitriangular=True)
    added, erased = solved.split([v.shape[-1], k.shape[-1]], -1)
    return _Tile(added, erased, keys, fade, passed, left)


def _read(value: Tensor, q: Tensor, k: Tensor, v: Tensor, beta: Tensor, decay: Tensor | None) -> tuple[Tensor, Tensor]:
    """y (B, H, N C, V) of N tiles behind the memory `value` (B, H, K, V), and the memory after them."""
    tile = _prepare(k, v, beta, decay)
    before, written, value = _Fold.apply(value, tile.added, tile.erased, tile.keys, tile.fade)
    weights = q @ k.mT
    if tile.left is not None and tile.passed is not None:
        weights, q = weights * tile.left, q * tile.passed
    return (q @ before + weights.tril() @ written).flatten(2, 3), value


class _Fold(torch.autograd.Function):
    """The recurrence over tiles, S' = fade S + keysᵀ (added - erased S), S in float64; gradients by its reverse."""

    @staticmethod
    def forward(ctx, value, added, erased, keys, fade):
        shape = value.shape
        value, added, erased, keys = (x.flatten(0, 1) for x in (value, added, erased, keys))
        ctx.has_fade = fade is not None
        fade = fade.flatten(0, 1) if ctx.has_fade else value.new_ones(())
        count = added.shape[1]
        before = added.new_empty(added.shape[0], count, *shape[2:])
        written = torch.empty_like(added)
        for n in range(count):
            front = value.to(added.dtype)
            change = torch.baddbmm(added[:, n], erased[:, n], front, alpha=-1)
            before[:, n], written[:, n] = front, change
            if ctx.has_fade:
                value = value * fade[:, n]
            value = value + torch.bmm(keys[:, n].mT, change)
        ctx.save_for_backward(before, written, erased, keys, fade)
        return before.unflatten(0, shape[:2]), written.unflatten(0, shape[:2]), value.unflatten(0, shape[:2])

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_before, grad_written, grad_value):
        before, written, erased, keys, fade = ctx.saved_tensors
        shape = grad_value.shape
        gradient, grad_before = grad_value.flatten(0, 1), grad_before.flatten(0, 1)
        grad_added = grad_written.flatten(0, 1).clone()
        grad_sums = torch.empty_like(before)
        grad_fade = fade.new_empty(fade.shape) if ctx.has_fade else None
        for n in reversed(range(before.shape[1])):
            into = gradient.to(before.dtype)
            grad_sums[:, n] = into
            grad_added[:, n] += torch.bmm(keys[:, n], into)
            if grad_fade is not None:
                grad_fade[:, n] = (gradient * before[:, n]).sum((-2, -1), keepdim=True)
                gradient = gradient * fade[:, n]
            gradient = gradient + grad_before[:, n] - torch.bmm(erased[:, n].mT, grad_added[:, n])
        grad_erased = -(grad_added @ before.mT)
        grad_keys = written @ grad_sums.mT
        inputs = (gradient, grad_added, grad_erased, grad_keys, grad_fade)
        return tuple(None if x is None else x.unflatten(0, shape[:2]) for x in inputs)
