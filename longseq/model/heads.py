"""Readers of hidden states: the next token, and the class of a record by running pooling."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from longseq.model.head_config import Pooling
from longseq.model.state import State


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
    open: Tensor
    """(B, D) float64, sum of the hidden vectors of a span that is not full yet; zeros without spans."""
    held: Tensor
    """(B,) int64, how many these are."""


class Classifier(nn.Module):
    """Class scores of a record from a running mean, maximum, last vector, or attention (log-sum-exp) pooling; of single
    tokens, or of the means of spans of them, counted from the record's start, less their centre and over their scale
    (`even_out`): one large mean would drown what differs."""

    centre: Tensor
    scale: Tensor

    def __init__(self, width: int, classes: int, pooling: Pooling = "mean", span: int = 0):
        """`span` tokens are read as one, their mean, the last ones of a record as they are; 0: each by itself."""
        super().__init__()
        self.pooling, self.span = pooling, span
        self.attend = nn.Linear(width, 1) if pooling == "attention" else None
        self.score = nn.Linear(width, classes)
        if span:
            self.register_buffer("centre", torch.zeros(width))
            self.register_buffer("scale", torch.ones(width))
            if self.attend is not None:  # begins as the mean: a document's odd first span would draw all attention
                nn.init.zeros_(self.attend.weight)

    def even_out(self, centre: Tensor, scale: Tensor) -> None:
        """The centre (D,) and scale (D,) of the means of spans that are learned from."""
        self.centre.copy_(centre)
        self.scale.copy_(scale)

    def evened(self, means: Tensor) -> Tensor:
        """Means (…, D) of spans, or vectors whose weighted means are read, less the centre and over the scale."""
        return (means - self.centre) / self.scale if self.span else means

    def forward(self, hidden: Tensor, pool: Pool | None = None, mask: Tensor | None = None) -> tuple[Tensor, Pool]:
        """hidden (B, T, D), T >= 1, and what was read before → logits (B, C) of all read so far, and the reading."""
        if mask is None:
            mask = hidden.new_ones(hidden.shape[:2], dtype=torch.bool)
        if pool is None:
            pool = _nothing(hidden)
        if not self.span:
            pool = self._folded(pool, hidden, mask.long())
            return self.score(self._reading(pool, hidden.dtype)), pool
        means, counts = _spans(hidden, mask, pool, self.span)
        evened = self.evened(means)
        full = counts == self.span
        pool = self._folded(pool, evened, counts * full)
        rest = counts * ~full  # the last span of each row, or none
        held = rest.sum(1)
        pool = pool._replace(open=(means.double() * rest[..., None]).sum(1), held=held)
        so_far = self._folded(pool, evened, rest)
        return self.score(self._reading(so_far, hidden.dtype)), pool

    def of_spans(self, means: Tensor, counts: Tensor) -> Tensor:
        """Means (B, S, D) of all spans of records, of (B, S) tokens each, 0 where there is none → logits (B, C)."""
        pool = self._folded(_nothing(means), self.evened(means), counts)
        return self.score(self._reading(pool, means.dtype))

    def _folded(self, pool: Pool, hidden: Tensor, counts: Tensor) -> Pool:
        """The reading of `pool` and of these vectors (B, T, D), each of so many tokens (B, T), 0 where it is none."""
        width, mask = hidden.shape[2], counts > 0
        if self.attend is None:
            scores = hidden.new_zeros(counts.shape, dtype=torch.float64)
        else:
            scores = self.attend(hidden)[..., 0].double()
        scores = scores.masked_fill(~mask, -torch.inf)
        top = torch.maximum(pool.top, scores.detach().amax(1))
        base = top.clamp_min(torch.finfo(torch.float64).min)  # nothing valid yet: -inf - -inf is not a number
        share = (scores - base[:, None]).exp() * counts
        fade = (pool.top - base).exp()
        total = pool.total * fade[:, None] + (share[..., None] * hidden.double()).sum(1)
        weight = pool.weight * fade + share.sum(1)
        largest = torch.maximum(pool.largest, hidden.masked_fill(~mask[..., None], -torch.inf).amax(1))
        position = torch.arange(1, counts.shape[1] + 1, device=hidden.device) * mask
        final = position.amax(1)
        recent = torch.cat([pool.last[:, None], hidden], 1)
        last = recent.gather(1, final[:, None, None].expand(-1, 1, width))[:, 0]
        return pool._replace(total=total, weight=weight, top=top, largest=largest, last=last)

    def _reading(self, pool: Pool, dtype: torch.dtype) -> Tensor:
        if self.pooling == "max":
            return pool.largest.masked_fill(pool.largest == -torch.inf, 0.0)
        if self.pooling == "last":
            return pool.last
        return (pool.total / pool.weight.clamp_min(torch.finfo(torch.float64).tiny)[:, None]).to(dtype)


def _nothing(hidden: Tensor) -> Pool:
    batch, _, width = hidden.shape
    zeros = hidden.new_zeros(batch, dtype=torch.float64)
    wide = hidden.new_zeros(batch, width, dtype=torch.float64)
    floor = hidden.new_full((batch, width), -torch.inf)
    none = hidden.new_zeros(batch, dtype=torch.int64)
    return Pool(wide, zeros, zeros - torch.inf, floor, hidden.new_zeros(batch, width), wide, none)


def _spans(hidden: Tensor, mask: Tensor, pool: Pool, span: int) -> tuple[Tensor, Tensor]:
    """Means (B, S, D) of the spans that what is held and hidden (B, T, D) make up, and the tokens (B, S) of each."""
    place = (pool.held[:, None] + mask.cumsum(1) - mask.long()) // span
    number = (hidden.shape[1] + span - 1) // span + 1
    wide = place[..., None].expand_as(hidden)
    sums = hidden.new_zeros(len(hidden), number, hidden.shape[2], dtype=torch.float64)
    sums = sums.scatter_add(1, wide, hidden.double() * mask[..., None])
    counts = mask.new_zeros(len(hidden), number, dtype=torch.int64).scatter_add(1, place, mask.long())
    first = torch.arange(number, device=hidden.device) == 0
    sums = sums + pool.open[:, None] * first[:, None]
    counts = counts + pool.held[:, None] * first
    return (sums / counts.clamp_min(1)[..., None]).to(hidden.dtype), counts
