"""Causal linear attention in block form, with an optional decay.

Per attention head, with q and k after the feature map and a column of ones behind v (Katharopoulos et al. 2020,
"Transformers are RNNs", eq. 9-20; Yang et al. 2024, "Gated linear attention", section 4 for the block form):

    S_t = diag(exp g_t) S_{t-1} + 2**c_t k_t [v_t, 1]ᵀ        y_t = (q_t S_t)[:V] / ((q_t S_t)[V] + eps)

Blocks are tiles of time: speed and rounding depend on them, the result does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from longseq.ops.kernels import kernel_attention
from longseq.ops.memory import Memory, working_dtype, working_precision
from longseq.ops.tiles import Rule, attend_span

SPAN = 2048
"""Tokens that are worked on together, at most: what lies between them stays in the processor's caches."""
BLOCKS = 32
"""Blocks of a span, at most: folding them takes the square of their number."""

Inputs = tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]
"""q, k, v, decay and the powers of two of the keys."""


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
        rescale: spans (32 blocks, at most 2048 tokens) between two renormalisations, and one at the end of the call; 0
            never.

    Returns:
        y: (B, H, T, V) in the working precision (float32, or float64 for float64), and the memory after the last token.
    """
    rule = Rule(normaliser, eps, floor, decay_bound)
    found = kernel_attention(q, k, v, memory, decay=decay, key_exponent=key_exponent, rescale=rescale, rule=rule)
    if found is not None:
        return found
    return attend_blocks((q, k, v, decay, key_exponent), memory, block, rescale, rule)


def attend_blocks(inputs: Inputs, memory: Memory | None, block: int, rescale: int, rule: Rule) -> tuple[Tensor, Memory]:
    """Attend by a rule, in blocks of so many tokens from the first on. See `linear_attention`."""
    q, k, v, decay, key_exponent = inputs
    if block < 1 or rescale < 0:
        raise ValueError(f"block {block} (>= 1 token) and rescale {rescale} (>= 0 spans)")
    dtype = working_dtype(q)
    with working_precision(q):
        inputs = (q.to(dtype), k.to(dtype), v.to(dtype), None if decay is None else decay.to(dtype), key_exponent)
        if memory is None:
            memory = Memory.empty(q.shape[0], q.shape[1], q.shape[3], v.shape[3] + rule.normaliser, q)
        if not q.shape[0] or not q.shape[2]:
            return inputs[2], memory
        settings = (block, rescale, rule)
        if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in (*inputs, memory.hi)):
            y, hi, lo, exponent = _Attention.apply(*inputs, *memory, settings)
            return y, Memory(hi, lo, exponent)
        y, value, exponent, _ = _attend(inputs, memory.wide(), memory.exponent, *settings)
        return y, Memory.split(value, exponent, dtype)


def _attend(
    inputs: Inputs, value: Tensor, exponent: Tensor, block: int, rescale: int, rule: Rule
) -> tuple[Tensor, Tensor, Tensor, list[tuple[Tensor, Tensor]]]:
    """One span after the other: y, the memory after the last, and the memory in front of each."""
    q, v = inputs[0], inputs[2]
    y, fronts = v.new_empty(v.shape), []
    for here, size, often in spans(q.shape[2], block, rescale):
        fronts.append((value, exponent))
        over, under, value, exponent = attend_span(*_cut(inputs, here), value, exponent, size, often, rule)
        torch.div(over, under, out=y[:, :, here])
    return y, value, exponent, fronts


class _Attention(torch.autograd.Function):
    """Only the inputs and the memory in front of each span are kept for the gradient, which works each span out again:
    the square matrices of all blocks would be larger than all else in the layer."""

    @staticmethod
    def forward(ctx, q, k, v, decay, key_exponent, hi, lo, exponent, settings):
        inputs = (q, k, v, decay, key_exponent)
        y, value, exponent, fronts = _attend(inputs, hi.double() + lo, exponent, *settings)
        left = Memory.split(value, exponent, hi.dtype)
        values, exponents = zip(*fronts, strict=True)
        ctx.save_for_backward(*inputs, torch.stack(values), torch.stack(exponents))
        ctx.settings = settings
        ctx.mark_non_differentiable(left.exponent)
        return y, *left

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_y, grad_hi, _grad_lo, _exponent):
        *inputs, values, exponents = ctx.saved_tensors
        block, rescale, rule = ctx.settings
        wanted = [i for i in range(4) if ctx.needs_input_grad[i]]
        grads = {i: torch.empty_like(inputs[i]) for i in wanted}
        # In exact arithmetic hi is the value and lo is 0, so the gradient of the value is that of hi.
        gradient = grad_hi.double()
        for n, (here, size, often) in reversed(list(enumerate(spans(inputs[0].shape[2], block, rescale)))):
            with torch.enable_grad(), working_precision(grad_y):
                cut = enumerate(_cut(inputs, here))
                parts = cast(Inputs, tuple(x if x is None else x.detach().requires_grad_(i in wanted) for i, x in cut))
                value = values[n].detach().requires_grad_()
                over, under, after, _ = attend_span(*parts, value, exponents[n], size, often, rule)
                leaves = [*(parts[i] for i in wanted), value]
                *found, gradient = torch.autograd.grad((over / under, after), leaves, (grad_y[:, :, here], gradient))
            for i, part in zip(wanted, found, strict=True):
                grads[i][:, :, here] = part
        gradient = gradient.to(grad_hi.dtype)
        return *map(grads.get, range(len(inputs))), gradient, gradient, None, None


def spans(length: int, block: int, rescale: int) -> Iterator[tuple[slice, int, bool]]:
    """Stretches of time, their block size, and whether the memory is renormalised after them.

    Whole blocks, then the rest as one shorter block, without padding.
    """
    whole = length - length % block
    step = max(min(SPAN // block, BLOCKS), 1) * block
    starts = [*range(0, whole, step), *([whole] if whole < length else [])]
    for count, (start, stop) in enumerate(zip(starts, [*starts[1:], length], strict=True), 1):
        size = block if stop <= whole else stop - start
        yield slice(start, stop), size, rescale > 0 and (count % rescale == 0 or stop == length)


def _cut(tensors: Inputs, here: slice) -> Inputs:
    return cast(Inputs, tuple(None if x is None else x[:, :, here] for x in tensors))
