"""The recurrence over blocks: S_n = f_n S_{n-1} + w_n C_n, carried in float64, with exponents."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from longseq.ops.memory import Memory, normalise, pow2


def scan_blocks(
    memory: Memory, sums: Tensor, log_decay: Tensor | None, exponents: Tensor | None, rescale: int
) -> tuple[Tensor, Tensor, Memory]:
    """Fold N block sums into a memory.

    Args:
        memory: what came before, (B, H, K, W).
        sums: (B, H, N, K, W), what each block adds, in units of `2**exponents`.
        log_decay: (B, H, N, K or 1), the log-decay of each whole block, or None.
        exponents: (B, H, N) int32, the power of two of each block's sum; None is 0.
        rescale: move the memory's own power of two to its exponent after every so many blocks and at the end; 0 never.

    Returns:
        before: (B, H, N, K, W), the memory in front of each block, rounded to the dtype of `sums`.
        scale: (B, H, N) int32, the exponent of each `before`.
        memory: what is left behind.
    """
    before, scale, hi, lo, exponent = _Scan.apply(
        memory.hi, memory.lo, memory.exponent, sums, log_decay, exponents, rescale
    )
    return before, scale, Memory(hi, lo, exponent)


class _Scan(torch.autograd.Function):
    """Gradients by the reverse recurrence; exponents are constants: no output depends on them."""

    @staticmethod
    def forward(ctx, hi, lo, exponent, sums, log_decay, exponents, rescale):
        count = sums.shape[2]
        value = hi.double() + lo.double()
        decay = None if log_decay is None else log_decay.double().exp()[..., None]  # (B, H, N, K or 1, 1)
        before, scales, carried, added = torch.empty_like(sums), [], [], []
        step = rescale or count
        for first in range(0, count, step):
            here = range(first, min(first + step, count))
            incoming = (
                exponent.new_zeros(*exponent.shape, len(here))
                if exponents is None
                else exponents[:, :, here.start : here.stop]
            )
            after = torch.maximum(exponent[..., None], incoming).cummax(-1).values  # (B, H, n)
            prior = torch.cat([exponent[..., None], after[..., :-1]], -1)
            keep = pow2(prior - after)[..., None, None]
            take = pow2(incoming - after)[..., None, None]
            if decay is not None:
                keep = keep * decay[:, :, here.start : here.stop]
            scaled = sums[:, :, here.start : here.stop].double() * take
            for i, n in enumerate(here):
                before[:, :, n] = value
                value = value * keep[:, :, i] + scaled[:, :, i]
            exponent = after[..., -1]
            if rescale:
                old = exponent
                value, exponent = normalise(value, exponent)
                shift = exponent - old
                undo = pow2(-shift)[..., None, None]
                keep = torch.cat([keep[:, :, :-1], keep[:, :, -1:] * undo[:, :, None]], 2)
                take = torch.cat([take[:, :, :-1], take[:, :, -1:] * undo[:, :, None]], 2)
            scales.append(prior)
            carried.append(keep)
            added.append(take)
        left = Memory.split(value, exponent, hi.dtype)
        scale = torch.cat(scales, 2)
        ctx.save_for_backward(before, torch.cat(carried, 2), torch.cat(added, 2))
        ctx.has_decay = log_decay is not None
        ctx.scalar_decay = ctx.has_decay and log_decay.shape[-1] == 1
        ctx.mark_non_differentiable(scale, left.exponent)
        return before, scale, left.hi, left.lo, left.exponent

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_before, _scale, grad_hi, _grad_lo, _exponent):
        # In exact arithmetic hi is the value and lo is 0, so the gradient of the value is that of hi.
        before, keep, take = ctx.saved_tensors
        gradient = grad_hi.double()
        grad_sums = torch.empty_like(before)
        grad_decay = before.new_empty(*keep.shape[:3], before.shape[3]) if ctx.has_decay else None
        for n in reversed(range(before.shape[2])):
            grad_sums[:, :, n] = gradient * take[:, :, n]
            through = gradient * keep[:, :, n]
            if grad_decay is not None:
                grad_decay[:, :, n] = (through * before[:, :, n]).sum(-1)
            gradient = through + grad_before[:, :, n]
        if grad_decay is not None and ctx.scalar_decay:
            grad_decay = grad_decay.sum(-1, keepdim=True)
        gradient = gradient.to(before.dtype)
        return gradient, gradient, None, grad_sums, grad_decay, None, None
