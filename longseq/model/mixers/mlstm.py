"""The matrix LSTM (Beck et al. 2024, "xLSTM", eq. 19-27): an exponential input gate and a forget gate a head."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.model.mixers.convolve import ShortConvolution
from longseq.model.mixers.gates import HeadGates, HeadReading, forget_bias
from longseq.model.mixers.heads import split_heads
from longseq.model.mixers.signed import attend_signed
from longseq.ops.exchange import Exchange
from longseq.ops.memory import Memory, working_dtype

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig

CAP = 15.0
"""Logits of the input gate are capped softly at ±CAP (Beck et al. 2025, "xLSTM 7B"): one huge gate would set a scale in
which, once forgotten, nothing after it is seen."""


class MLstmState(NamedTuple):
    memory: Memory
    """(B, H, K, V+1)."""
    tail: Tensor
    """(B, W-1, 2 D), the last valid queries and keys before the convolution; W-1 = 0 without one."""


class MLstm(nn.Module):
    """Queries and keys behind a short convolution, a denominator of at least 1, a norm a head, an output gate.

    The running maximum of the input gate is an integer power of two: the memory's exponent.
    """

    state_type = MLstmState

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        width, heads = config.width, config.heads
        self.heads, self.block, self.rescale = heads, config.block, config.rescale
        self.scale = (width // heads) ** -0.5
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.entering, self.leaving = nn.Identity(), nn.Identity()
        self.gates = HeadGates(width, heads, 2)
        self.convolution = ShortConvolution(config.convolution, width, (0, 1))
        self.reading = HeadReading(config)
        with torch.no_grad():
            self.gates.project.bias[heads:] = forget_bias(heads, config.longest)

    def forward(
        self, x: Tensor, state: MLstmState | None = None, mask: Tensor | None = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, MLstmState]:
        """x (B, T, D) → y (B, T, D), the memory and the convolution's tail after its last valid token."""
        memory, tail = (None, None) if state is None else state
        width = x.shape[-1]
        pair, v = self.project(x).split([2 * width, width], -1)
        pair, tail = self.convolution(pair, tail, mask, exchange)
        q, k, v = (split_heads(part, self.heads) for part in (*pair.chunk(2, -1), v))
        q, k, v = self.entering((q, k, v))
        written, kept = self.gates(x)
        fraction, exponent = input_gate(written)
        y, memory = attend_signed(
            q,
            k.to(working_dtype(x)) * (fraction * self.scale),
            v,
            memory,
            mask,
            exchange,
            decay=F.logsigmoid(kept),
            key_exponent=exponent[..., 0],
            floor=1.0,
            block=self.block,
            rescale=self.rescale,
        )
        return self.reading(self.leaving(y), x), MLstmState(memory, tail)

    def log_decay(self, x: Tensor) -> Tensor:
        """x (B, T, D) → (B, H, T, 1)."""
        return F.logsigmoid(self.gates(x)[1])


def input_gate(logits: Tensor) -> tuple[Tensor, Tensor]:
    """e^{c(x)} as `fraction * 2**exponent`, fraction in (0.5, 1] and exponent int32 a constant for gradients;
    c(x) = CAP tanh(x / CAP)."""
    x = CAP * (logits / CAP).tanh()
    exponent = (x.detach() * math.log2(math.e)).ceil()
    # The product exponent * ln 2 taken apart, so that its rounding does not reach the difference (Cody and Waite).
    high, low = 0.693145751953125, 1.42860682030941723e-6
    return ((x - exponent * high) - exponent * low).exp(), exponent.to(torch.int32)
