"""The weights that queries give to keys, by the softmax and by a feature map, side by side."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from longseq.model.mixers.heads import stack_heads
from longseq.model.mixers.linear import Linear
from longseq.model.mixers.softmax import Softmax


def divergence(theirs: Softmax, ours: Linear, x: Tensor, mask: Tensor | None) -> Tensor:
    """Kullback-Leibler divergence of the weights of our mixer from those of their softmax mixer, in nats, the mean over
    valid queries and attention heads; x (B, T, D) is what both hear, one segment a row."""
    with torch.no_grad():
        q, k, _ = stack_heads(theirs.project(x), 3, theirs.heads).float()
        wanted = _share(q @ k.mT * q.shape[-1] ** -0.5, mask)
    found = _share(_scores(ours, x), mask)
    apart = (wanted.exp() * (wanted - found)).where(wanted > -torch.inf, 0).sum(-1)
    if mask is None:
        return apart.mean()
    valid = mask[:, None].expand_as(apart)
    return apart.where(valid, 0).sum() / valid.sum()


def _scores(mixer: Linear, x: Tensor) -> Tensor:
    """Logarithms of what each key (B, H, T, T) counts to each query, but for a factor a query."""
    heads = stack_heads(mixer.project(x), 3, mixer.heads)
    (q, lacking), (k, exponent) = mixer.map.scaled_query(heads[0]), mixer.map.key(heads[1])
    scores = (q @ k.mT).clamp_min(torch.finfo(q.dtype).tiny).log()
    if exponent is not None:
        scores = scores + exponent[:, :, None] * math.log(2)
    if mixer.gain is None:
        return scores
    if lacking is not None:
        scores = scores + lacking[..., None]
    window = torch.arange(x.shape[1], device=x.device) // mixer.window
    near = heads[0].float() @ heads[1].float().mT * heads.shape[-1] ** -0.5
    return near.where(window[:, None] == window, scores + mixer.gain[:, None, None])


def _share(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Logarithms of the weights (B, H, T, T) of these scores; masked keys have none."""
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None], -torch.inf)
    return scores.log_softmax(-1)
