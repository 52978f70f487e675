"""Attention by segment in which linear attention stands in for the softmax: of a converted Transformer.

A segment is cut into windows. A token weighs those of its window as softmax attention does, the others of its segment
by the feature map and a gain of its attention head; and it reads the segments before through a gate, or beside them:

    y = (Σ_window e^s v + e^gain φ(q) Σ_others φ(k) vᵀ) / (Σ_window e^s + e^gain φ(q) Σ_others φ(k))    s = q·k / √K
    y + tanh(gate) (φ(q) S / φ(q) z - y)

No sum is taken by subtraction, and quotients are joined by the logarithms of their denominators, in base 2, so that
weights of any size meet.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from longseq.ops.feature_maps import FeatureMap
from longseq.ops.fold import fold_blocks
from longseq.ops.linear_attention import spans
from longseq.ops.memory import EMPTY, Memory, pow2, working_dtype, working_precision
from longseq.ops.tiles import HEADROOM, LOG2_E, Rule, quotient


class Shares(NamedTuple):
    """How much a segment's parts count, (H,) each, a number an attention head."""

    gain: Tensor | None
    """Logarithm of what tokens outside the window count; None without windows."""
    gate: Tensor | None
    """Of the segments before, before its tanh; None: they count as tokens outside the window."""


def gated_segment_attention(
    features: FeatureMap,
    heads: Tensor,
    memory: Memory | None = None,
    *,
    segment: int,
    window: int,
    shares: Shares,
    valid: Tensor | None = None,
    kept: Tensor | None = None,
    rescale: int = 64,
) -> tuple[Tensor, Memory]:
    """Attend to the whole of each token's segment and to what earlier ones left.

    The first token begins a segment; the last segment may be short, and is then the last of its record.

    Args:
        features: the feature map; its epsilon is added to denominators that no window keeps above 0.
        heads: (3, B, H, T, K) queries, keys and values, before the feature map.
        memory: what earlier segments left, or None.
        segment: tokens a segment.
        window: tokens a window, the first of a segment at its start; 0: none, all tokens of a segment are read by the
            feature map.
        shares: without windows, a gate and `kept` the result is that of `segment_attention`, which is faster.
        valid: (B, T) bool, the valid tokens, which come first in each lane; None: all are.
        kept: (B, T) bool, those of the valid tokens that enter the memory; None: all do.
        rescale: spans (32 segments, at most 2048 tokens, at least one segment) between two renormalisations, and one
            at the end of the call; 0 never.

    Returns:
        y: (B, H, T, V) in the working precision, and the memory (B, H, K, V+1) after the last token. Where no earlier
        segment is seen, y is what the own one says.
    """
    length, dtype = heads.shape[3], working_dtype(heads)
    with working_precision(heads):
        heads, fresh = heads.to(dtype), memory is None
        if memory is None:
            keys = features.features(heads.shape[-1])
            memory = Memory.empty(heads.shape[1], heads.shape[2], keys, heads.shape[-1] + 1, heads)
        if not heads.shape[1] or not length:
            return heads[2], memory
        value, exponent, parts = memory.wide(), memory.exponent, []
        for here, size, often in spans(length, segment, rescale):
            own = heads[:, :, :, here], _cut(valid, here), _cut(kept, here)
            first = fresh and own[0].shape[3] == here.stop == size
            y, value, exponent = _span(features, own, (value, exponent), size, window, often, shares, first)
            parts.append(y.transpose(1, 2))
        y = torch.cat(parts, 1) if len(parts) > 1 else parts[0]
        return y.transpose(1, 2), Memory.split(value, exponent, dtype)


def _span(
    features: FeatureMap,
    tokens: tuple[Tensor, Tensor | None, Tensor | None],
    memory: tuple[Tensor, Tensor],
    size: int,
    window: int,
    rescale: bool,
    shares: Shares,
    first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Segments of `size` tokens, whole ones, at once: y (B, H, T, V) and the memory after them.

    `first`: there is one segment, and none before it.
    """
    tile = min(window, size) or size
    heads, valid, kept = tokens if size % tile == 0 else _padded(*tokens, size, -size % tile)
    heads = heads.contiguous()
    batch, count = heads.shape[1], tokens[0].shape[3] // size
    shape = (batch, heads.shape[2], count, heads.shape[3] // count // tile)
    (q, lacking), (k, exponents) = features.scaled_query(heads[0]), features.key(heads[1])
    values = F.pad(heads[2], (0, 1), value=1.0)
    far, units, left, incoming = _sums(k, values, exponents, valid, kept, shape, tile)
    # What stands before each segment, in units of 2**scale.
    value, exponent = memory
    unit = None
    if incoming is None:
        unit = (exponent - HEADROOM).clamp_min(0)
        left = left * pow2(-unit, left.dtype)[..., None, None, None]
    before, scale, value, exponent = fold_blocks(value, exponent, left, None, incoming, unit, rescale)
    rule = Rule(True, features.eps, features.floor, None)
    if not window:
        if shares.gate is None:
            far, units = _beside((far, units), before[:, :, :, None], scale[..., None])
        over, under = quotient(_read(q, far, shape), None if units is None else units[..., None, None], rule)
        y = over / under
    else:
        others = _others(far, units) if shape[3] > 1 else None
        if shares.gate is None:
            others = _beside(others, before[:, :, :, None], scale[..., None])
        inside, largest = _inside(heads, values, valid, shape, tile)
        y = inside[..., :-1] / inside[..., -1:]
        if others is not None:
            sums, reached = others
            size_inside = largest + inside[..., -1:].log2()
            out = _read(q, sums, shape)
            y = _joined(y, size_inside, out, reached, lacking, features.floor, shares.gain)
    y = y.flatten(3, 4)
    if shares.gate is not None and not first:
        earlier = _read(q, before, shape[:3])
        over, under = quotient(earlier, scale[..., None, None], rule)
        gate = shares.gate.to(y.dtype).tanh()[:, None, None, None]
        y = torch.lerp(y, over / under, gate * (earlier[..., -1:] != 0))
    return y[..., :size, :].flatten(2, 3), value, exponent


def _cut(x: Tensor | None, here: slice) -> Tensor | None:
    return None if x is None else x[:, here]


def _padded(
    heads: Tensor, valid: Tensor | None, kept: Tensor | None, size: int, padding: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Each segment of `size` tokens with masked ones behind, to whole windows."""
    if valid is None:
        valid = torch.ones(heads.shape[1], heads.shape[3], dtype=torch.bool, device=heads.device)
    kept = valid if kept is None else kept
    heads = F.pad(heads.unflatten(3, (-1, size)), (0, 0, 0, padding)).flatten(3, 4)
    valid, kept = (F.pad(x.unflatten(1, (-1, size)), (0, padding)).flatten(1) for x in (valid, kept))
    return heads, valid, kept


def _sums(
    k: Tensor,
    values: Tensor,
    exponents: Tensor | None,
    valid: Tensor | None,
    kept: Tensor | None,
    shape: tuple[int, ...],
    tile: int,
) -> tuple[Tensor, Tensor | None, Tensor, Tensor | None]:
    """Of φ(k) [v, 1]ᵀ over each tile (B, H, N, n, K', V+1), with their units (B, H, N, n); and over what enters the
    memory of each segment (B, H, N, K', V+1), with theirs (B, H, N)."""
    weighed, units = _weighed(values, exponents, valid, tile)
    own = torch.bmm(_tiles(k, tile).mT, _tiles(weighed, tile)).unflatten(0, shape)
    units = None if units is None else units.unflatten(-1, shape[2:])
    if kept is None and (units is None or shape[3] == 1):
        return own, units, own.sum(3) if shape[3] > 1 else own[:, :, :, 0], None if units is None else units[..., 0]
    size = tile * shape[3]
    weighed, incoming = _weighed(values, exponents, valid if kept is None else kept, size)
    return own, units, torch.bmm(_tiles(k, size).mT, _tiles(weighed, size)).unflatten(0, shape[:3]), incoming


def _weighed(
    values: Tensor, exponents: Tensor | None, counted: Tensor | None, group: int
) -> tuple[Tensor, Tensor | None]:
    """[v, 1] (B, H, T, V+1) times the powers of two of its keys, in units of the largest of each `group` of tokens
    (B, H, T / group); 0 for tokens not counted."""
    if counted is not None:
        values = values.masked_fill(~counted[:, None, :, None], 0.0)
        exponents = None if exponents is None else exponents.masked_fill(~counted[:, None], EMPTY)
    if exponents is None:
        return values, None
    grouped = exponents.unflatten(-1, (-1, group))
    units = grouped.amax(-1)
    return values * pow2((grouped - units[..., None]).flatten(-2), values.dtype)[..., None], units


def _others(sums: Tensor, units: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Of each tile, the sum over the other tiles of its segment, and its units."""
    count = sums.shape[3]
    own = torch.eye(count, dtype=torch.bool, device=sums.device)
    if units is None:
        others, reached = (~own).to(sums.dtype), None
    else:
        theirs = units[..., None, :].expand(*units.shape, count).masked_fill(own, EMPTY)
        reached = theirs.amax(-1)
        others = pow2(theirs - reached[..., None], sums.dtype).masked_fill(own, 0.0)
    return (others @ sums.flatten(-2)).unflatten(-1, sums.shape[-2:]), reached


def _beside(others: tuple[Tensor, Tensor | None] | None, before: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """What stands before each segment (B, H, N, 1, K', V+1) added to the sums over other tiles, and their units."""
    if others is None:
        return before, scale
    sums, reached = others
    near = scale.new_zeros(()) if reached is None else reached
    unit = torch.maximum(near, scale)
    near, scale = (pow2(power - unit, sums.dtype)[..., None, None] for power in (near, scale))
    return sums * near + before * scale, unit


def _read(q: Tensor, sums: Tensor, shape: tuple[int, ...]) -> Tensor:
    """φ(q) (B, H, T, K') of tokens in as many tiles as `shape` holds, times the sums of each (`shape`, K', V+1) →
    (`shape`, tile, V+1)."""
    return torch.bmm(_tiles(q, q.shape[2] // math.prod(shape[2:])), sums.flatten(0, len(shape) - 1)).unflatten(0, shape)


def _inside(
    heads: Tensor, values: Tensor, valid: Tensor | None, shape: tuple[int, ...], tile: int
) -> tuple[Tensor, Tensor]:
    """Softmax weights inside each window times [v, 1] (B, H, N, n, tile, V+1), in units of 2**largest (…, tile, 1)."""
    scale = heads.shape[-1] ** -0.5 * LOG2_E
    scores = torch.bmm(_tiles(heads[0] * scale, tile), _tiles(heads[1], tile).mT).unflatten(0, shape)
    if valid is not None:
        # A masked token has itself to look at: its result is not used.
        seen = valid.reshape(shape[0], 1, *shape[2:], 1, tile) | torch.eye(tile, dtype=torch.bool, device=valid.device)
        scores = scores.masked_fill_(~seen, -math.inf)
    largest = scores.detach().amax(-1, keepdim=True)
    weights = scores.sub_(largest).exp2_()
    return torch.bmm(weights.flatten(0, 3), _tiles(values, tile)).unflatten(0, shape), largest


def _joined(
    y: Tensor,
    size: Tensor,
    out: Tensor,
    reached: Tensor | None,
    lacking: Tensor | None,
    floor: float,
    gain: Tensor | None,
) -> Tensor:
    """y (B, H, N, n, tile, V), whose denominator is 2**size, and what is read of other tokens, jointly."""
    assert gain is not None
    nothing = out[..., -1:] == 0
    reached = None if reached is None else reached[..., None, None]
    over, under = quotient(out, reached, Rule(True, 0.0, floor, None))
    # A mantissa and whole powers of two: the same number in whichever units the sums came. Features that are 0 but for
    # rounding may leave less than nothing.
    mantissa, power = torch.frexp(under.abs())
    theirs = mantissa.log2() + (power if reached is None else power + reached)
    theirs = theirs + gain.to(y.dtype)[:, None, None, None, None] * LOG2_E
    if lacking is not None:
        theirs = theirs + lacking.reshape(size.shape) * LOG2_E
    return torch.lerp(y, over / under, ((theirs - size) / LOG2_E).sigmoid().masked_fill(nothing, 0.0))


def _tiles(x: Tensor, size: int) -> Tensor:
    """(B, H, T, C) → (B H N n, size, C)."""
    return x.reshape(-1, size, x.shape[-1])
