"""Visibility "both": two whole passes of an encoder, over the record and over its reverse, joined at the readings."""

from __future__ import annotations

import torch
from torch import Tensor

from longseq.model.encoder import Encoder
from longseq.ops.padding import compact, take


def read_both(encoder: Encoder, ids: Tensor, mask: Tensor | None = None, complement: Tensor | None = None) -> Tensor:
    """Read whole records forwards and backwards.

    Args:
        ids: (B, T) int64, whole records.
        mask: (B, T) bool, True where valid; None: all are.
        complement: (vocabulary,) int64, the id of each id's complement: the second pass is then over the reverse
            complement. None: over the reverse.

    Returns:
        (B, T, 2 D): of each token, the hidden vector of all up to and including it, then that of all from the
        record's end back to and including it. Arbitrary where masked.
    """
    forwards, _ = encoder(ids, None, mask)
    other = mirror(ids, mask)
    opposite = ids.gather(1, other)
    if complement is not None:
        opposite = complement.to(ids.device)[opposite]
    backwards, _ = encoder(opposite, None, mask)
    return torch.cat([forwards, take(backwards, other)], -1)


def mirror(ids: Tensor, mask: Tensor | None) -> Tensor:
    """(B, T) int64: where each token's counterpart from the other end stands; masked tokens keep their place."""
    batch, length = ids.shape
    rank = torch.arange(length, device=ids.device).expand(batch, -1)
    if mask is None:
        return rank.flip(1)
    order, back = compact(mask)
    valid = mask.sum(1, keepdim=True)
    return order.gather(1, torch.where(rank < valid, valid - 1 - rank, rank)).gather(1, back)
