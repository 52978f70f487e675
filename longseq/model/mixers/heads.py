"""Channels into attention heads and back."""

from __future__ import annotations

from torch import Tensor

from longseq.errors import UsageError
from longseq.ops.exchange import Exchange


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, D) → (B, H, T, D / H)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def stack_heads(x: Tensor, parts: int, heads: int) -> Tensor:
    """(B, T, P D) → (P, B, H, T, D / H), a view."""
    return x.unflatten(-1, (parts, heads, -1)).permute(2, 0, 3, 1, 4)


def join_heads(x: Tensor) -> Tensor:
    """(B, H, T, V) → (B, T, H V)."""
    return x.transpose(1, 2).flatten(-2)


def refuse_exchange(exchange: Exchange | None, name: str) -> None:
    """For mixers whose past cannot be folded in one gather."""
    if exchange is not None:
        raise UsageError(f"the {name} mixer cannot split a record over processes", remedy="use linear or gated mixers")
