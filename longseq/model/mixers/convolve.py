"""The short causal convolution in front of a mixer, as a module."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longseq.ops.convolution import short_convolution
from longseq.ops.exchange import Exchange
from longseq.ops.memory import working_dtype


class ShortConvolution(nn.Module):
    """A depthwise convolution over groups of `width` channels; each group begins as the token `lag` places back.

    Keys that begin at the token before, and values at the current one, make the memory one of continuations from the
    start. With 0 taps nothing is convolved and the tail has no token.
    """

    def __init__(self, taps: int, width: int, lags: tuple[int, ...]):
        super().__init__()
        self.taps = taps or 1
        self.weight = None
        if taps:
            self.weight = nn.Parameter(torch.randn(len(lags) * width, taps) * 0.5 / taps)
            with torch.no_grad():
                for group, lag in zip(self.weight.split(width), lags, strict=True):
                    group[:, -1 - lag] += 1.0

    def forward(
        self, x: Tensor, tail: Tensor | None, mask: Tensor | None, exchange: Exchange | None
    ) -> tuple[Tensor, Tensor]:
        """x (B, T, C) behind the tail (B, W-1, C), None at the start of a record → y (B, T, C) and the tail after.

        Under autocast both are in the working precision.
        """
        if self.weight is not None and torch.is_autocast_enabled(x.device.type):
            # Summed in half precision, the taps would add a third to the error of a whole delta mixer.
            x = x.to(working_dtype(x))
        if tail is None:
            tail = x.new_zeros(x.shape[0], self.taps - 1, x.shape[-1])
        if self.weight is None:
            return x, tail
        if exchange is not None:
            # A first pass for the tail alone: it needs the inputs, not the result.
            tail = exchange.tail(short_convolution(x, self.weight, tail, mask)[1], tail)
        return short_convolution(x, self.weight, tail, mask)
