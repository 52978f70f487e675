"""How far back a gradient reaches: the norm of d loss(T) / d embedding(T - d) for growing distances d.

The loss of token T is its negative log-likelihood after all before it, so its neighbour, at distance 1, is the last
token that the model has read by then. Where the norm falls by a factor with every token, what is farther back cannot
be learned (Bengio et al. 1994).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from longseq.model import LanguageModel


def gradient_norms(
    model: LanguageModel, letters: Sequence[int], distances: Sequence[int], *, examples: int, seed: int
) -> tuple[float, ...]:
    """Euclidean norms, mean over examples, one for each distance; computed in float64.

    Args:
        model: Left as it is.
        letters: Token ids from which each example is drawn, evenly.
        distances: Tokens, 1 or more.
        examples: Sequences, each one token longer than the largest distance.
        seed: Of the examples.
    """
    model = copy.deepcopy(model).double().eval()
    length = max(distances) + 1
    drawn = torch.randint(len(letters), (examples, length), generator=torch.Generator().manual_seed(seed))
    ids = torch.tensor(letters)[drawn]
    embedded: list[Tensor] = []

    def leaf(_: object, __: object, output: Tensor) -> Tensor:
        embedded.append(output.detach().requires_grad_())
        return embedded[0]

    handle = model.encoder.embedding.register_forward_hook(leaf)
    try:
        logits, _ = model(ids)
    finally:
        handle.remove()
    loss = F.cross_entropy(logits[:, -1], ids[:, -1], reduction="sum")  # examples do not see one another
    (gradient,) = torch.autograd.grad(loss, embedded)
    norms = gradient.norm(dim=-1).mean(0)  # (T,)
    return tuple(float(norms[length - 1 - distance]) for distance in distances)
