"""Linear attention through the GPU kernels of flash-linear-attention, where there are both (extra `cuda`).

Untested on a GPU: the tests put plain formulas in the kernels' place. Written against fla-org/flash-linear-attention as
it reads at commit 07784bc (2026); of older ones, `chunk_gla` at 86867ca and the use of `chunk_simple_gla` at 0315a70.

A kernel works out what the tokens of a call see of one another. What stands before them is read here, and what they
leave behind is summed here: the memory is the same compensated float32 sum as elsewhere, whatever a kernel rounds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from longseq.ops.memory import Memory, normalise, pow2, working_precision
from longseq.ops.tiles import HEADROOM, SAFE_EXPONENT, Rule, quotient

TILE = 64
"""Tokens of a kernel's own tiles. Shorter calls are not worth a kernel."""
SPAN = 16384
"""Tokens that are summed up in float32; what is carried from span to span is float64."""


class Kernels(NamedTuple):
    """Functions of q, k (B, T, H, K), v (B, T, H, V), the log-decay g and a scale: the output (B, T, H, V) behind an
    empty memory, and a state that is not asked for."""

    scalar: Callable[..., tuple[Tensor, Any]]
    """No decay (g None), or one an attention head: g (B, T, H)."""
    channel: Callable[..., tuple[Tensor, Any]]
    """A decay for each key channel: g (B, T, H, K)."""


def kernel_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    memory: Memory | None,
    *,
    decay: Tensor | None,
    key_exponent: Tensor | None,
    rescale: int,
    rule: Rule,
) -> tuple[Tensor, Memory] | None:
    """What `linear_attention` returns for the same arguments, or None where the kernels do not fit.

    Above 0, `rescale` renormalises the memory after every 16384 tokens and at the end.
    """
    kernels = _fitting(q, v, decay, key_exponent, rule)
    if kernels is None:
        return None
    with working_precision(q):
        q, k, v = q.float(), k.float(), v.float()
        if rule.normaliser:
            v = torch.cat([v, v.new_ones(*v.shape[:-1], 1)], -1)
        if memory is None:
            memory = Memory.empty(q.shape[0], q.shape[1], q.shape[3], v.shape[3], q)
        value, exponent = memory.wide(), memory.exponent
        parts = []
        for start in range(0, q.shape[2], SPAN):
            here = (slice(None), slice(None), slice(start, start + SPAN))
            gates = None if decay is None else decay[here]
            out, unit, value = _read_span(kernels, q[here], k[here], v[here], gates, value, exponent)
            over, under = quotient(out[:, :, None], unit[..., None, None, None], rule)
            parts.append((over / under)[:, :, 0])
            exponent = unit
            if rescale:
                value, exponent = normalise(value, exponent)
        return torch.cat(parts, 2), Memory.split(value, exponent, torch.float32)


def _fitting(
    q: Tensor, v: Tensor, decay: Tensor | None, key_exponent: Tensor | None, rule: Rule, device: str = "cuda"
) -> Kernels | None:
    """The kernels, if they are there and do what is asked.

    They multiply float32 as TF32, 11 bits: enough for values that have 8 or 11 bits themselves, not for float32 ones,
    whose results are float32. Decays are bounded, so that no exponential overflows in a tile.
    """
    if q.device.type != device or v.dtype not in (torch.bfloat16, torch.float16) or q.shape[2] < TILE:
        return None
    if key_exponent is not None or rule.floor or rule.both_ways:
        return None
    if decay is not None and (rule.bound is None or rule.bound * TILE > SAFE_EXPONENT):
        return None
    return _load()


@functools.cache
def _load() -> Kernels | None:
    try:
        from fla.ops.gla import chunk_gla
        from fla.ops.simple_gla import chunk_simple_gla
    except ImportError:
        return None
    return Kernels(chunk_simple_gla, chunk_gla)


def _read_span(
    kernels: Kernels, q: Tensor, k: Tensor, v: Tensor, decay: Tensor | None, value: Tensor, exponent: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """q, k (B, H, T, K), v (B, H, T, V), value (B, H, K, V) float64 and exponent (B, H) → the sums of weighted values
    (B, H, T, V), the power of two (B, H) of these and of the memory after, and that memory."""
    unit = (exponent - HEADROOM).clamp_min(0)
    k = k * pow2(-unit, k.dtype)[..., None, None]
    value = value * pow2(exponent - unit)[..., None, None]
    front, reader, keys, g, kernel = value.to(q.dtype), q, k, None, kernels.scalar
    if decay is not None:
        # In float64: a float32 sum over a span no longer resolves the decay of a channel that hardly has one.
        passed = decay.double().cumsum(2)
        total = passed[:, :, -1:]
        reader = q * passed.to(q.dtype).exp()
        keys = k * (total - passed).to(k.dtype).exp()
        value = value * total.mT.exp()
        g = decay.to(q.dtype).transpose(1, 2)
        if decay.shape[-1] == 1:
            g = g[..., 0]
        else:
            kernel = kernels.channel
    out, _ = kernel(*(x.transpose(1, 2) for x in (q, k, v)), g=g, scale=1.0)
    return out.transpose(1, 2) + reader @ front, unit, value + keys.mT @ v
