"""Recurrent baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from longseq.model.mixers.heads import refuse_exchange
from longseq.ops.exchange import Exchange
from longseq.ops.padding import compact, take

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig


class RecurrentState(NamedTuple):
    hidden: Tensor
    """(B, D)."""


class Gru(nn.Module):
    """One GRU layer (Cho et al. 2014) of the width of the model."""

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        self.cell = nn.GRU(config.width, config.width, batch_first=True)

    def forward(
        self,
        x: Tensor,
        state: RecurrentState | None = None,
        mask: Tensor | None = None,
        exchange: Exchange | None = None,
    ) -> tuple[Tensor, RecurrentState]:
        """x (B, T, D) → y (B, T, D) and the hidden vector after its last valid token."""
        refuse_exchange(exchange, "gru")
        hidden = x.new_zeros(x.shape[0], x.shape[2]) if state is None else state.hidden.to(x.dtype)
        if x.shape[1] == 0:
            return x, RecurrentState(hidden)
        if mask is None:
            y, last = self.cell(x, hidden[None])
            return y, RecurrentState(last[0])
        order, back = compact(mask)
        lengths = mask.sum(1)
        # Packing takes no empty sequence: an empty lane reads one token, and its result is dropped.
        packed = pack_padded_sequence(
            take(x, order), lengths.clamp_min(1).cpu(), batch_first=True, enforce_sorted=False
        )
        packed, last = self.cell(packed, hidden[None])
        y, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
        return take(y, back), RecurrentState(torch.where(lengths[:, None] > 0, last[0], hidden))
