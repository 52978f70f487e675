"""What a loader hands on, and how weights get their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from longseq.model.config import ModelConfig
from longseq.model.headed import VectorModel
from longseq.model.tensors import Tensors


@dataclass(frozen=True, kw_only=True)
class Teacher:
    """A trained Transformer as one of our encoders."""

    kind: str
    """bert, roberta, distilbert, or nn.TransformerEncoder."""
    model: VectorModel
    """With softmax mixers, in evaluation mode, float32."""
    left: tuple[str, ...]
    """Tensors of its files that no hidden vector depends on: heads, a pooler."""


def filled(config: ModelConfig, weights: Mapping[str, Tensor]) -> VectorModel:
    """The model of these weights, which are all there are."""
    model = VectorModel(config)
    model.encoder.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    return model.eval()


def affine(found: Tensors, names: tuple[str, ...], ours: str, shape: tuple[int, int]) -> dict[str, Tensor]:
    """Weight and bias of a map of `shape` (outputs, inputs), those of several `names` one below the other; a bias that
    is not there is zeros."""
    weights, biases = [], []
    for name in names:
        weights.append(found.take(f"{name}.weight", shape))
        biases.append(_vector(found, f"{name}.bias", shape[0]))
    return {f"{ours}.weight": torch.cat(weights), f"{ours}.bias": torch.cat(biases)}


def norm(found: Tensors, name: str, ours: str, width: int) -> dict[str, Tensor]:
    """Scale and shift of a LayerNorm, also under the names gamma and beta of older files."""
    if f"{name}.weight" not in found and f"{name}.gamma" in found:
        scale, shift = found.take(f"{name}.gamma", (width,)), found.take(f"{name}.beta", (width,))
    else:
        scale, shift = found.take(f"{name}.weight", (width,)), _vector(found, f"{name}.bias", width)
    return {f"{ours}.weight": scale, f"{ours}.bias": shift}


def _vector(found: Tensors, name: str, width: int) -> Tensor:
    return found.take(name, (width,)) if name in found else torch.zeros(width)
