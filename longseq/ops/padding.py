"""Masked tokens: bring the valid ones of each lane together, and put results back."""

from __future__ import annotations

import torch
from torch import Tensor


def compact(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Order in which the valid tokens of each lane come first, and its inverse: two (B, T) int64 index tensors."""
    order = (~mask).to(torch.uint8).argsort(dim=1, stable=True)
    return order, order.argsort(dim=1)


def take(x: Tensor, order: Tensor) -> Tensor:
    """x (B, T, C) with tokens in `order` (B, T)."""
    return x.gather(1, order[..., None].expand(-1, -1, x.shape[-1]))


def keep(mask: Tensor | None, x: Tensor) -> Tensor:
    """x (B, H, T, C) with the masked tokens of mask (B, T) zeroed."""
    return x if mask is None else x.masked_fill(~mask[:, None, :, None], 0.0)
