"""Linear attention itself: its definition, its epsilon, its sum over very many tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from longseq.ops.feature_maps import feature_map
from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import Memory
from longseq.ops.segments import segment_attention
from longseq.tasks.check.case import LIMIT, Case
from longseq.tasks.check.reading import error
from longseq.tasks.check.subject import DTYPES, Subject

HEADS, KEYS, VALUES, TOKENS = 2, 8, 5, 150
SEGMENT = 24
EPS = 1e-6
MEMORY_LIMIT = 1e-6
"""Relative error of a memory after any number of tokens."""
TIMES = 64
"""The plain sum is cheap: it is taken over so many times the tokens that the model reads, unless told otherwise."""
PIECE = 65536


def needs_memory(subject: Subject) -> str | None:
    return None if subject.holds_memory else "no layer has a memory of linear attention"


def definition(subject: Subject, length: int) -> Iterator[Case]:
    """Cut in three, with each kind of decay, against the sum over all pairs in float64."""
    q, k, v, generator = _inputs(subject)
    for name, strength, width, bound in (
        ("no decay", 0.0, 1, None),
        ("decay a channel", 1.0, KEYS, 1.0),
        ("decay a head", 5.0, 1, None),
        ("strong decay", 80.0, KEYS, None),
    ):
        decay = -strength * torch.rand(1, HEADS, TOKENS, width, generator=generator, dtype=torch.float64).square()
        decay = decay.to(subject.device)
        wanted = _pairs(q, k, v, decay, eps=EPS)
        for precision, dtype in DTYPES.items():
            x = (q.to(dtype), k.to(dtype), v.to(dtype))
            given = decay.to(dtype) if strength else None
            found, _ = _in_three(x, given, decay_bound=bound, eps=EPS)
            yield Case(name, precision, error(found, wanted), LIMIT[precision])
    if subject.config.visibility == "segment":
        place = torch.arange(TOKENS, device=subject.device) // SEGMENT
        wanted = _pairs(q, k, v, torch.zeros_like(k[..., :1]), place[:, None] >= place, eps=EPS)
        cut = TOKENS // 2 // SEGMENT * SEGMENT
        for precision, dtype in DTYPES.items():
            outputs, memory = [], None
            for s in (slice(cut), slice(cut, None)):
                qs, ks, vs = (t[:, :, s].to(dtype) for t in (q, k, v))
                y, memory = segment_attention(qs, ks, vs, memory, segment=SEGMENT, eps=EPS)
                outputs.append(y)
            figure = error(torch.cat(outputs, 2), wanted)
            yield Case("both ways inside segments", precision, figure, LIMIT[precision])


def epsilon(subject: Subject, length: int) -> Iterator[Case]:
    """An epsilon and a floor of the denominator stay in true scale, however far the memory is rescaled."""
    q, k, v, _ = _inputs(subject)
    for power in (-40, -20, 0, 40):
        keys = k * 2.0**power
        for name, options in (("epsilon", {"eps": EPS}), ("floor", {"floor": 1.0})):
            wanted = _pairs(q, keys, v, torch.zeros_like(k[..., :1]), **options)
            for precision, dtype in DTYPES.items():
                x = (q.to(dtype), keys.to(dtype), v.to(dtype))
                found, _ = _in_three(x, rescale=1, **options)
                yield Case(f"{name}, keys of size 2^{power}", precision, error(found, wanted), LIMIT[precision])


def long_sum(subject: Subject, length: int, tokens: int | None = None) -> Iterator[Case]:
    """The memory of plain linear attention (elu + 1, two channels) over very many tokens, `TIMES` × length or `tokens`,
    against the sum in float64, after so many and 8 times as many each."""
    tokens = tokens or TIMES * length
    phi = feature_map("elu+1", 1, 2)
    generator = torch.Generator().manual_seed(0)
    total, memory, done, last = torch.zeros(1, 1, 2, 3, dtype=torch.float64, device=subject.device), None, 0, 0
    while done < tokens:
        size = min(PIECE, tokens - done)
        q, k, v = torch.randn(3, 1, 1, size, 2, generator=generator).to(subject.device)
        with torch.inference_mode():
            keys = phi.key(k)[0]
            _, memory = linear_attention(phi.query(q), keys, v, memory, eps=phi.eps)
            total += keys.double().mT @ torch.cat([v, torch.ones_like(v[..., :1])], -1).double()
        done += size
        if done >= 8 * last or done == tokens:
            last = done
            yield Case(f"after {done:,} tokens", "float32", error(memory.value(), total), MEMORY_LIMIT)


def _inputs(subject: Subject) -> tuple[Tensor, Tensor, Tensor, torch.Generator]:
    """q, k >= 0 and v in float64, exact in float32 too: rounding them is no fault of the operation."""
    generator = torch.Generator().manual_seed(1)
    q, k = (torch.rand(1, HEADS, TOKENS, KEYS, generator=generator).double() for _ in range(2))
    v = torch.randn(1, HEADS, TOKENS, VALUES, generator=generator).double()
    return q.to(subject.device), k.to(subject.device), v.to(subject.device), generator


def _in_three(
    x: tuple[Tensor, Tensor, Tensor], decay: Tensor | None = None, /, **options: Any
) -> tuple[Tensor, Memory]:
    """One record in three calls of unequal length."""
    q, k, v = x
    outputs: list[Tensor] = []
    memory = None
    for s in (slice(0, 70), slice(70, 71), slice(71, None)):
        here = None if decay is None else decay[:, :, s]
        y, memory = linear_attention(q[:, :, s], k[:, :, s], v[:, :, s], memory, decay=here, **options)
        outputs.append(y)
    assert memory is not None
    return torch.cat(outputs, 2), memory


def _pairs(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    seen: Tensor | None = None,
    /,
    eps: float = 0.0,
    floor: float = 0.0,
) -> Tensor:
    """The definition: every token against every one before it, or against those that `seen` (T, T) allows."""
    left = decay.cumsum(-2)
    gap = left[..., :, None, :] - left[..., None, :, :]
    if seen is None:
        seen = torch.ones(gap.shape[-3:-1], dtype=torch.bool, device=q.device).tril()
    weights = (q[..., :, None, :] * k[..., None, :, :] * gap.masked_fill(~seen[..., None], -math.inf).exp()).sum(-1)
    below = weights.sum(-1, keepdim=True) + eps
    return (weights @ v) / (below.abs().clamp_min(floor) if floor else below)
