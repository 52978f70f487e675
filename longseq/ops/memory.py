"""The memory of linear attention: a compensated sum with a power-of-two exponent.

A memory stands for `(hi + lo) * 2**exponent`. Inside a call the sum is carried in float64; between calls it is two
float32 tensors, 48 bits together, one layout on every device. A plain float32 running sum of unit-size terms stops
growing near 2**24 tokens; the pair does not. Rescaling by powers of two is exact, so it changes no output bit.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

EMPTY = -(2**24)
"""Exponent of a memory that has seen nothing, and of a masked key: below every exponent that can occur."""


class Memory(NamedTuple):
    """Per record and attention head, the decayed sum of phi(k) vᵀ; the last column is its normaliser."""

    hi: Tensor
    """(B, H, K, V+1) leading part, float32 (float64 where the computation is); V columns without a normaliser."""
    lo: Tensor
    """(B, H, K, V+1) what `hi` rounded away."""
    exponent: Tensor
    """(B, H) int32: the value is `(hi + lo) * 2**exponent`."""

    @classmethod
    def empty(cls, batch: int, heads: int, keys: int, values: int, like: Tensor) -> Memory:
        """A memory that has seen nothing, on the device of `like`, in its working precision."""
        zeros = torch.zeros(batch, heads, keys, values, dtype=working_dtype(like), device=like.device)
        return cls(zeros, zeros, torch.full((batch, heads), EMPTY, dtype=torch.int32, device=like.device))

    @classmethod
    def split(cls, value: Tensor, exponent: Tensor, dtype: torch.dtype) -> Memory:
        """From a float64 `value` (B, H, K, V+1) to the pair in `dtype`."""
        hi = value.to(dtype)
        return cls(hi, (value - hi).to(dtype), exponent)

    def wide(self) -> Tensor:
        """`hi + lo` in float64, without the exponent: (B, H, K, V+1)."""
        return self.hi.double() + self.lo

    def value(self) -> Tensor:
        """The sum itself in float64: (B, H, K, V+1). May overflow only beyond 1e308."""
        return self.wide() * pow2(self.exponent)[..., None, None]


def working_dtype(x: Tensor) -> torch.dtype:
    """float64 stays; everything else is summed from float32."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def pow2(exponent: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    """`2**exponent`, exact: built from bits, because a library's `pow` may be an ulp off.

    Below the normal numbers of `dtype` (float32 or float64): 0. Above: their largest power of two.
    """
    if dtype == torch.float32:
        return ((exponent.int().clamp(-127, 127) + 127) << 23).view(dtype)
    return ((exponent.long().clamp(-1023, 1023) + 1023) << 52).view(torch.float64).to(dtype)


def normalise(value: Tensor, exponent: Tensor) -> tuple[Tensor, Tensor]:
    """The same number with the largest entry a head in [0.5, 1): value (B, H, K, V+1) and exponent (B, H) int32.

    A head that holds nothing, because all of it was forgotten, is EMPTY: no exponent outlives what it was for.
    """
    largest = value.detach().abs().amax((-2, -1))
    mantissa, shift = torch.frexp(largest)
    # A number's mantissa over itself is the power of two that it lacks, exactly.
    unit = mantissa / largest.clamp_min(torch.finfo(value.dtype).tiny)
    return value * unit[..., None, None], torch.where(largest > 0, exponent + shift, EMPTY)


def working_precision(x: Tensor) -> AbstractContextManager:
    """Autocast off on the device of `x`; nothing where it is off already, since even that has its price."""
    device = x.device.type
    return torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext()
