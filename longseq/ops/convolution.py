"""Short causal depthwise convolution that carries its last inputs."""

from __future__ import annotations

import torch
from torch import Tensor

from longseq.ops.padding import compact, take


def short_convolution(x: Tensor, weight: Tensor, tail: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """y_t = sum_j weight[:, j] x_{t-W+1+j} over the valid tokens only.

    Args:
        x: (B, T, C).
        weight: (C, W), the last tap is the current token.
        tail: (B, W-1, C), the last W-1 valid inputs before x; zeros at the start of a record.
        mask: (B, T) bool, True where valid; None: all are.

    Returns:
        y: (B, T, C), arbitrary where masked, and the new tail.
    """
    if mask is not None:
        order, back = compact(mask)
        x = take(x, order)
    joined = torch.cat([tail.to(x.dtype), x], 1)
    width, length = tail.shape[1], x.shape[1]
    # A sum over taps, each a few passes over memory in the layout at hand: seven times as fast here as conv1d. A tap
    # that strides would cost five times as much.
    taps = weight.to(x.dtype).mT.contiguous()
    y = joined[:, :length] * taps[0]
    for j in range(1, width + 1):
        y.addcmul_(joined[:, j : j + length], taps[j])
    if mask is None:
        return y, joined[:, joined.shape[1] - width :].clone()  # a view would keep the whole chunk
    ends = mask.sum(1, keepdim=True) + torch.arange(width, device=x.device)  # (B, W-1) positions in `joined`
    return take(y, back), take(joined, ends)
