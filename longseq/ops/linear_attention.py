"""Causal linear attention in block form, with an optional decay.

Per attention head, with q and k after the feature map and a column of ones behind v (Katharopoulos et al. 2020,
"Transformers are RNNs", eq. 9-20; Yang et al. 2024, "Gated linear attention", section 4 for the block form):

    S_t = diag(exp g_t) S_{t-1} + 2**c_t k_t [v_t, 1]ᵀ        y_t = (q_t S_t)[:V] / ((q_t S_t)[V] + eps)

Blocks are tiles of time: speed and rounding depend on them, the result does not.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from longseq.ops.memory import Memory, working_dtype
from longseq.ops.tiles import Rule, attend_span

SPAN = 32
"""Blocks that are worked on together: what lies between them stays in the processor's caches."""


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
        rescale: spans of 32 blocks between two renormalisations, and one at the end of the call; 0 never.

    Returns:
        y: (B, H, T, V) in the working precision (float32, or float64 for float64), and the memory after the last token.
    """
    dtype = working_dtype(q)
    with torch.autocast(q.device.type, enabled=False):
        q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
        decay = None if decay is None else decay.to(dtype)
        if memory is None:
            memory = Memory.empty(q.shape[0], q.shape[1], q.shape[3], v.shape[3] + normaliser, q)
        if not q.shape[2]:
            return v, memory
        rule = Rule(normaliser, eps, floor, decay_bound)
        y, hi, lo, exponent = _Attention.apply(q, k, v, decay, key_exponent, *memory, block, rescale, rule)
        return y, Memory(hi, lo, exponent)


class _Attention(torch.autograd.Function):
    """One span after the other. Only the inputs and the memory in front of each span are kept for the gradient, which
    works each span out again: the square matrices of all blocks would be larger than all else in the layer."""

    @staticmethod
    def forward(ctx, q, k, v, decay, key_exponent, hi, lo, exponent, block, rescale, rule):
        batch, heads, length, _ = q.shape
        inputs = (q, k, v, decay, key_exponent)
        value = hi.double() + lo.double()
        # Time before heads: they are joined without a copy.
        y = v.new_empty(batch, length, heads, v.shape[-1]).transpose(1, 2)
        values, exponents = [], []
        for count, (here, size) in enumerate(_spans(length, block), 1):
            values.append(value)
            exponents.append(exponent)
            often = rescale > 0 and (count % rescale == 0 or here.stop == length)
            y[:, :, here], value, exponent = attend_span(*_cut(inputs, here), value, exponent, size, often, rule)
        left = Memory.split(value, exponent, hi.dtype)
        ctx.save_for_backward(*inputs, torch.stack(values), torch.stack(exponents))
        ctx.settings = (block, rescale, rule)
        ctx.mark_non_differentiable(left.exponent)
        return y, *left

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_y, grad_hi, _grad_lo, _exponent):
        *inputs, values, exponents = ctx.saved_tensors
        block, rescale, rule = ctx.settings
        wanted = [i for i in range(4) if ctx.needs_input_grad[i]]
        grads = [torch.empty_like(x) if i in wanted else None for i, x in enumerate(inputs)]
        # In exact arithmetic hi is the value and lo is 0, so the gradient of the value is that of hi.
        gradient = grad_hi.double()
        length = inputs[0].shape[2]
        spans = list(enumerate(_spans(length, block)))
        for n, (here, size) in reversed(spans):
            with torch.enable_grad(), torch.autocast(grad_y.device.type, enabled=False):
                parts = [
                    x if x is None else x.detach().requires_grad_(i in wanted)
                    for i, x in enumerate(_cut(inputs, here))
                ]
                value = values[n].detach().requires_grad_()
                often = rescale > 0 and ((n + 1) % rescale == 0 or here.stop == length)
                y, after, _ = attend_span(*parts, value, exponents[n], size, often, rule)
                leaves = [*(parts[i] for i in wanted), value]
                *found, gradient = torch.autograd.grad((y, after), leaves, (grad_y[:, :, here], gradient))
            for i, part in zip(wanted, found, strict=True):
                grads[i][:, :, here] = part
        gradient = gradient.to(grad_hi.dtype)
        return *grads, gradient, gradient, None, None, None, None


def _spans(length: int, block: int) -> Iterator[tuple[slice, int]]:
    """Stretches of time and their block size: whole blocks, then the rest as one shorter block, without padding."""
    whole = length - length % block
    for start in range(0, whole, SPAN * block):
        yield slice(start, min(start + SPAN * block, whole)), block
    if whole < length:
        yield slice(whole, length), length - whole


def _cut(tensors: tuple[Tensor | None, ...], here: slice) -> list[Tensor | None]:
    return [None if x is None else x[:, :, here] for x in tensors]
