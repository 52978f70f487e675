"""A teacher that answers and does not learn, and how far an answer is from its."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from longseq.model import Encoder


class Answer(NamedTuple):
    """What a teacher says of B texts of T tokens."""

    hidden: Tensor
    """(B, T, D), at the end."""
    layers: list[Tensor]
    """(B, T, D) behind each layer."""
    heard: list[Tensor]
    """(B, T, D), what each layer's mixer hears …"""
    said: list[Tensor]
    """… and what it answers."""


class Teacher(nn.Module):
    """An encoder that stays in evaluation mode and gives no gradients."""

    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder.eval().requires_grad_(False)

    def train(self, mode: bool = True) -> Teacher:
        """It stays as it is."""
        return self

    @torch.no_grad()
    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Answer:
        """ids (B, T), each row one segment at most."""
        with listening(mixers_of(self.encoder)) as mixers, behind(self.encoder) as layers:
            hidden = self.encoder(ids, None, mask)[0]
        return Answer(hidden, layers, *(list(side) for side in zip(*mixers, strict=True)))


def mixers_of(encoder: Encoder) -> list[Any]:
    """Of each layer."""
    return [layer.mixer for layer in encoder.layers]


@contextmanager
def listening(mixers: list[nn.Module]) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """What each of these modules is called with first, and the first of what it answers, in order of the calls."""
    found: list[tuple[Tensor, Tensor]] = []
    handles = [m.register_forward_hook(lambda _, given, made: found.append((given[0], made[0]))) for m in mixers]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def behind(encoder: Encoder) -> Iterator[list[Tensor]]:
    """Hidden vectors (B, T, D) behind each layer, as the encoder is called."""
    found: list[Tensor] = []
    handles = [layer.register_forward_hook(lambda _, given, made: found.append(made[0])) for layer in encoder.layers]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def error(found: Tensor, wanted: Tensor, mask: Tensor | None) -> Tensor:
    """||found - wanted||² / ||wanted||² over the valid tokens (B, T) of vectors (B, T, D)."""
    found, wanted = found.float(), wanted.float()
    apart, size = (found - wanted).square().sum(-1), wanted.square().sum(-1)
    if mask is not None:
        apart, size = apart.where(mask, 0), size.where(mask, 0)
    return apart.sum() / size.sum().clamp_min(torch.finfo(size.dtype).tiny)


def pooled(hidden: Tensor, mask: Tensor | None) -> Tensor:
    """(B, D), the mean of the valid ones of hidden vectors (B, T, D)."""
    hidden = hidden.float()
    if mask is None:
        return hidden.mean(1)
    return hidden.where(mask[..., None], 0).sum(1) / mask.sum(1, keepdim=True)


def attention_errors(encoder: Encoder, answer: Answer, mask: Tensor | None) -> Tensor:
    """(L,) `error` of each layer's mixer, given what the teacher's hears."""
    mixers = zip(mixers_of(encoder), answer.heard, answer.said, strict=True)
    return torch.stack([error(mixer(heard, None, mask)[0], said, mask) for mixer, heard, said in mixers])
