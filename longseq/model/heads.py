"""Readers of hidden states: the next token, and the class of a record by running pooling."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from longseq.model.state import State

Pooling = Literal["mean", "max", "last", "attention"]


class NextToken(nn.Module):
    """Scores token t from the hidden vector of token t-1; the first token of a record from a learned vector."""

    def __init__(self, width: int, vocabulary: int):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(width))
        self.score = nn.Linear(width, vocabulary)

    def forward(self, hidden: Tensor, before: State | None = None) -> Tensor:
        """hidden (B, T, D) of tokens whose predecessors left `before` → logits (B, T, vocabulary) of those tokens."""
        first = self.start.expand(hidden.shape[0], -1)
        if before is not None:
            first = torch.where((before.seen > 0)[:, None], before.last, first)
        previous = torch.cat([first[:, None].to(hidden.dtype), hidden[:, :-1]], 1)
        return self.score(previous)


class Pool(NamedTuple):
    """Running reading of a record, the same however the record was cut."""

    total: Tensor
    """(B, D) float64, sum of hidden vectors, weighted by exp(score - top) under attention."""
    weight: Tensor
    """(B,) float64, sum of the weights."""
    top: Tensor
    """(B,) float64, largest score so far: 0 without attention, -inf where no token was valid yet."""
    largest: Tensor
    """(B, D), maximum so far; -inf where no token was valid yet."""
    last: Tensor
    """(B, D), last valid hidden vector."""


class Classifier(nn.Module):
    """Class scores of a record from a running mean, maximum, last vector, or attention (log-sum-exp) pooling."""

    def __init__(self, width: int, classes: int, pooling: Pooling = "mean"):
        super().__init__()
        self.pooling = pooling
        self.attend = nn.Linear(width, 1) if pooling == "attention" else None
        self.score = nn.Linear(width, classes)

    def forward(self, hidden: Tensor, pool: Pool | None = None, mask: Tensor | None = None) -> tuple[Tensor, Pool]:
        """hidden (B, T, D), T >= 1, and what was read before → logits (B, C) of all read so far, and the reading."""
        batch, length, width = hidden.shape
        if mask is None:
            mask = hidden.new_ones(batch, length, dtype=torch.bool)
        if pool is None:
            zeros = hidden.new_zeros(batch, dtype=torch.float64)
            floor = hidden.new_full((batch, width), -torch.inf)
            pool = Pool(
                hidden.new_zeros(batch, width, dtype=torch.float64),
                zeros,
                zeros - torch.inf,
                floor,
                hidden.new_zeros(batch, width),
            )
        if self.attend is None:
            scores = hidden.new_zeros(batch, length, dtype=torch.float64)
        else:
            scores = self.attend(hidden)[..., 0].double()
        scores = scores.masked_fill(~mask, -torch.inf)
        top = torch.maximum(pool.top, scores.detach().amax(1))
        base = top.clamp_min(torch.finfo(torch.float64).min)  # nothing valid yet: -inf - -inf is not a number
        share = (scores - base[:, None]).exp()
        fade = (pool.top - base).exp()
        total = pool.total * fade[:, None] + (share[..., None] * hidden.double()).sum(1)
        weight = pool.weight * fade + share.sum(1)
        largest = torch.maximum(pool.largest, hidden.masked_fill(~mask[..., None], -torch.inf).amax(1))
        position = torch.arange(1, length + 1, device=hidden.device) * mask
        final = position.amax(1)
        recent = torch.cat([pool.last[:, None], hidden], 1)
        last = recent.gather(1, final[:, None, None].expand(-1, 1, width))[:, 0]
        pool = Pool(total, weight, top, largest, last)
        if self.pooling == "max":
            reading = largest.masked_fill(largest == -torch.inf, 0.0)
        elif self.pooling == "last":
            reading = last
        else:
            reading = (total / weight.clamp_min(torch.finfo(torch.float64).tiny)[:, None]).to(hidden.dtype)
        return self.score(reading), pool
