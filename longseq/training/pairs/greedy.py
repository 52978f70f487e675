"""Answers: after source and separator, the likeliest token, again and again, many rows side by side."""

from __future__ import annotations

import torch
from torch import Tensor

from longseq.model import LanguageModel


@torch.no_grad()
def greedy(model: LanguageModel, ids: Tensor, mask: Tensor, allowed: Tensor, end: int, most: int) -> Tensor:
    """What the model says behind each row, from the state alone that the row left.

    Args:
        ids: (B, T) int64, padded on the right where `mask` (B, T) is False.
        allowed: (V,) bool, tokens that may be said.
        end: the token with which a row is done.
        most: tokens at most.

    Returns:
        (B, N) int64 with N <= most; behind the end of a row stands `end`.
    """
    _, state = model.encoder(ids, None, mask)
    nothing = model.head.start.new_zeros(len(ids), 1, model.config.width)
    done = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    said: list[Tensor] = []
    while len(said) < most and not bool(done.all()):
        scores = model.head(nothing, state)[:, 0].masked_fill(~allowed, -torch.inf)
        token = torch.where(done, end, scores.argmax(-1))
        said.append(token)
        done = done | (token == end)
        if len(said) < most:
            _, state = model.encoder(token[:, None], state)
    return torch.stack(said, 1)
