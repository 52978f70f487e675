"""Recurrent baselines: one layer of torch's own, of the width of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from longseq.model.mixers.heads import refuse_exchange
from longseq.ops.exchange import Exchange
from longseq.ops.padding import compact, take

if TYPE_CHECKING:
    from longseq.model.config import ModelConfig


class RecurrentState(NamedTuple):
    hidden: Tensor
    """(B, D)."""


class LstmState(NamedTuple):
    hidden: Tensor
    """(B, D)."""
    cell: Tensor
    """(B, D)."""


class Recurrent(nn.Module):
    """What the baselines share: a cell, run over the valid tokens."""

    cell_type: ClassVar[type[nn.GRU] | type[nn.LSTM] | type[nn.RNN]]
    state_type: ClassVar[type[RecurrentState] | type[LstmState]] = RecurrentState

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        self.cell = self.cell_type(config.width, config.width, batch_first=True)

    def forward(
        self,
        x: Tensor,
        state: RecurrentState | LstmState | None = None,
        mask: Tensor | None = None,
        exchange: Exchange | None = None,
    ) -> tuple[Tensor, RecurrentState | LstmState]:
        """x (B, T, D) → y (B, T, D) and what the cell holds after its last valid token."""
        refuse_exchange(exchange, type(self).__name__.lower())
        if state is None:
            zeros = x.new_zeros(x.shape[0], x.shape[2])
            state = self.state_type(*[zeros] * len(self.state_type._fields))
        before = self.state_type(*(part.to(x.dtype) for part in state))
        if not x.shape[0] or not x.shape[1]:
            return x, before
        if mask is None:
            return self._run(x, before)
        order, back = compact(mask)
        lengths = mask.sum(1)
        # Packing takes no empty sequence: an empty lane reads one token, and its result is dropped.
        packed, after = self._run(
            pack_padded_sequence(take(x, order), lengths.clamp_min(1).cpu(), batch_first=True, enforce_sorted=False),
            before,
        )
        y, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
        some = lengths[:, None] > 0
        after = self.state_type(*(torch.where(some, *parts) for parts in zip(after, before, strict=True)))
        return take(y, back), after

    def _run(
        self, x: Tensor | PackedSequence, before: RecurrentState | LstmState
    ) -> tuple[Any, RecurrentState | LstmState]:
        """The cell over x (B, T, D), packed or not; torch wants a layer axis, and a tuple only of two."""
        start = tuple(part[None] for part in before)
        y, last = self.cell(x, start if len(start) > 1 else start[0])
        return y, self.state_type(*(part[0] for part in (last if isinstance(last, tuple) else (last,))))


class Gru(Recurrent):
    """A GRU layer (Cho et al. 2014)."""

    cell_type = nn.GRU


class Lstm(Recurrent):
    """An LSTM layer (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000)."""

    cell_type = nn.LSTM
    state_type = LstmState


class Rnn(Recurrent):
    """A tanh layer (Elman 1990)."""

    cell_type = nn.RNN
