"""Layer by layer: how well the student's mixers do the teacher's work, and how sharply the teacher looks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from longseq.model import Checkpoint
from longseq.model.mixers.heads import split_heads
from longseq.model.mixers.softmax import Softmax, rotate
from longseq.results.conversion import LayerRow
from longseq.tasks.convert.card.readings import read
from longseq.training.transfer.teaching import mixers_of

ROWS = 4
"""Segments of a call: the weights of all attention heads are held for these."""
SPIKY = 0.5
"""A head is spiky whose entropy is less than this share of that of even attention."""
Stages = Mapping[str, Sequence[float]]
"""Transfer error of each layer, by the stage of the conversion after which it was measured."""


def layers(teacher: Checkpoint, student: Checkpoint, rows: np.ndarray, stages: Stages) -> list[LayerRow]:
    """A row a layer, over segments (N, segment) that are full."""
    seen = [_Seen() for _ in range(teacher.config.layers)]
    for at in range(0, len(rows), ROWS):
        _look(teacher, student, rows[at : at + ROWS], seen)
    even = even_entropy(rows.shape[1])
    found = []
    for i, layer in enumerate(seen):
        entropy = (layer.entropy / layer.tokens).tolist()
        found.append(
            LayerRow(
                layer=i + 1,
                transfer_error=layer.error / layer.squares,
                hidden=layer.cosine / layer.tokens,
                entropy=entropy,
                spiky=[head + 1 for head, nats in enumerate(entropy) if nats < SPIKY * even],
                stages={name: errors[i] for name, errors in stages.items()},
            )
        )
    return found


def even_entropy(tokens: int) -> float:
    """Nats of attention that looks at all of so many tokens alike."""
    return math.log(tokens)


class _Seen:
    """Sums over the tokens so far, of one layer."""

    def __init__(self) -> None:
        self.tokens = 0
        self.error = self.squares = self.cosine = 0.0
        self.entropy = np.zeros(0)


def _look(teacher: Checkpoint, student: Checkpoint, ids: np.ndarray, seen: Sequence[_Seen]) -> None:
    theirs, ours = _watched(teacher, ids), _watched(student, ids)
    for i, layer in enumerate(seen):
        fed, made, behind = theirs[i]
        with torch.inference_mode():
            found = mixers_of(student.model.encoder)[i](fed, None, None, None)[0]
            layer.error += float((found - made).double().square().sum())
            layer.squares += float(made.double().square().sum())
            layer.cosine += float(F.cosine_similarity(ours[i][2], behind, dim=-1).double().sum())
            entropy = attention_entropy(mixers_of(teacher.model.encoder)[i], fed).sum((0, 2)).cpu().numpy()
        layer.entropy = layer.entropy + entropy if layer.tokens else entropy
        layer.tokens += ids.size


def _watched(checkpoint: Checkpoint, ids: np.ndarray) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Of each layer what its mixer was fed, what it made of it, and the vectors behind the layer: (B, T, D) each."""
    fed: list[tuple[Tensor, Tensor]] = []
    behind: list[Tensor] = []
    handles = []
    for layer, mixer in zip(checkpoint.model.encoder.layers, mixers_of(checkpoint.model.encoder), strict=True):
        handles.append(mixer.register_forward_hook(lambda _, given, out: fed.append((given[0], out[0]))))
        handles.append(layer.register_forward_hook(lambda _, __, out: behind.append(out[0])))
    try:
        read(checkpoint.model.encoder, ids)
    finally:
        for handle in handles:
            handle.remove()
    return [(*pair, after) for pair, after in zip(fed, behind, strict=True)]


def attention_entropy(mixer: Softmax, x: Tensor) -> Tensor:
    """(B, H, T) nats of each query's weights over the tokens of x (B, T, D), all of which it sees."""
    q, k = (split_heads(part, mixer.heads) for part in mixer.project(x).chunk(3, -1)[:2])
    if mixer.rotary:
        place = torch.arange(x.shape[1], device=x.device)[None]
        q, k = rotate(q, place), rotate(k, place)
    weights = ((q @ k.mT) * q.shape[-1] ** -0.5).double().log_softmax(-1)
    return -(weights.exp() * weights).sum(-1)
