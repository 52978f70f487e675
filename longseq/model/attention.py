"""Attention as a table: how much of each token's value every other token reads, head by head.

What an attention head reads is linear in the values, in every mixer that has a table: y = W v. So W is what it reads of
the columns of the identity, put in the place of the values, with the model's own code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from longseq.model.config import ModelConfig
from longseq.model.encoder import Encoder
from longseq.ops.memory import working_dtype


class Heads(NamedTuple):
    """What the attention heads of one layer do with the tokens of one record."""

    weights: Tensor
    """(H, T, T): row t says how token t weighs the values of all others. Rows add up to 1 where there is a denominator;
    else weights may be negative."""
    same: Tensor | None
    """(H, T, T): what softmax would make of the same queries and keys; None where these have been through a map or a
    norm that softmax attention does not have, and of softmax attention itself."""
    values: Tensor
    """(H, T, V), what is weighed."""
    readings: Tensor
    """(H, T, V), what the mixer has read; `weights @ values`, but for rounding."""


def looked_at(encoder: Encoder, ids: Tensor) -> list[Heads | None]:
    """Every layer's attention over ids (T,), a whole record of at most a segment where there are segments; None of a
    mixer that has no such table.

    It takes H T² numbers a layer: meant for some hundred tokens.
    """
    return _over_layers(encoder, ids, lambda mixer, x: _heads(mixer, x, encoder.config))


def log_decays(encoder: Encoder, ids: Tensor) -> list[Tensor | None]:
    """Every layer's log-decays (H, T, K or 1) over ids (T,), at most 0; None where nothing is forgotten."""
    return _over_layers(encoder, ids, _log_decay)


def _over_layers(encoder: Encoder, ids: Tensor, look: Callable[[nn.Module, Tensor], Any]) -> list[Any]:
    """What `look` finds of each attention mixer and its inputs (1, T, D), as the encoder reads; None of others."""
    found: list[Any] = []

    def seen(mixer: nn.Module, args: tuple[Any, ...]) -> None:
        found.append(look(mixer, args[0]) if hasattr(mixer, "entering") else None)

    handles = [layer.mixer.register_forward_pre_hook(seen) for layer in encoder.layers]  # type: ignore[union-attr]
    try:
        with torch.inference_mode():
            encoder(ids[None])
    finally:
        for handle in handles:
            handle.remove()
    return found


def _log_decay(mixer: nn.Module, x: Tensor) -> Tensor | None:
    decay = mixer.log_decay(x) if hasattr(mixer, "log_decay") else None  # type: ignore[operator]
    return None if decay is None else decay[0]


def _heads(mixer: nn.Module, x: Tensor, config: ModelConfig) -> Heads:
    """Of one mixer over its inputs (1, T, D)."""
    (q, k, values), reading = _passed(mixer, x)
    width = values.shape[-1]
    identity = torch.eye(x.shape[1], dtype=values.dtype, device=x.device)
    columns = []
    for part in identity.split(width, -1):
        wide = nn.functional.pad(part, (0, width - part.shape[-1]))  # an operation may want values as wide as keys
        columns.append(_passed(mixer, x, wide.expand_as(values))[1][0, ..., : part.shape[-1]])
    same = _softmax(q[0], k[0], causal=config.visibility != "segment") if hasattr(mixer, "map") else None
    return Heads(torch.cat(columns, -1), same, values[0], reading[0])


def _passed(mixer: nn.Module, x: Tensor, values: Tensor | None = None) -> tuple[tuple[Tensor, ...], Tensor]:
    """Queries, keys and values (1, H, T, ·) of x (1, T, D), and what is read (1, H, T, V): of the values, or of others
    in their place."""
    seen: list[Any] = []

    def enter(parts: Any) -> Any:
        seen.append(parts)
        if values is None:
            return None
        q, k, _ = parts
        return torch.stack([q, k, values]) if isinstance(parts, Tensor) else (q, k, values)

    entering: Any = mixer.entering
    leaving: Any = mixer.leaving
    with _watched(entering, enter), _watched(leaving, seen.append):
        mixer.forward(x)  # not a call: what hangs on the mixer is not told again
    return tuple(seen[0]), seen[1]


def _softmax(q: Tensor, k: Tensor, *, causal: bool) -> Tensor:
    """(H, T, K) → (H, T, T) as in Vaswani et al. 2017, eq. 1."""
    scores = q.to(working_dtype(q)) @ k.to(working_dtype(k)).mT * k.shape[-1] ** -0.5
    if causal:
        ahead = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(ahead, -math.inf)
    return scores.softmax(-1)


@contextmanager
def _watched(module: nn.Module, look: Callable[[Any], Any]) -> Iterator[None]:
    """Within, `look` is told of what passes `module`; what it returns passes instead, but for None."""
    handle = module.register_forward_hook(lambda _module, _args, output: look(output))
    try:
        yield
    finally:
        handle.remove()
