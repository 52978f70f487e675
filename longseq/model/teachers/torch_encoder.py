"""State dicts of `torch.nn.TransformerEncoder`, with the embeddings in front of it, in one safetensors file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from longseq.config import require
from longseq.errors import CheckpointError
from longseq.model.config import ModelConfig
from longseq.model.teachers.teacher import Teacher, affine, filled, norm
from longseq.model.tensors import Tensors, open_tensors

FIRST = "layers.0.self_attn.in_proj_weight"
"""What names of an encoder of torch end with, whatever stands in front."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a state dict does not say of the model it is of; defaults are those of `nn.TransformerEncoderLayer`."""

    heads: int = 0
    """H, attention heads of a layer (nhead)."""
    activation: Literal["relu", "gelu"] = "relu"
    """Inside its feed-forward networks."""
    norm_first: bool = False
    """Norms in front of attention and feed-forward."""
    norm_epsilon: float = 1e-5
    """Added to the variance in its norms (layer_norm_eps)."""
    embedding: str = "embedding.weight"
    """Name of the tensor (V, D) of token embeddings."""
    positions: str = ""
    """Name of the tensor of position embeddings, (P, D), (1, P, D) or (P, 1, D), sinusoidal ones too; empty: none."""

    def __post_init__(self):
        require(self.heads >= 0, "teacher.heads", self.heads, ">= 1")
        require(self.norm_epsilon > 0, "teacher.norm_epsilon", self.norm_epsilon, "> 0")


def read_torch_encoder(file: Path, shape: Shape, segment: int | None = None) -> Teacher:
    """The encoder of a file of the tensors of a model that holds one `nn.TransformerEncoder`, without a causal mask.

    Args:
        file: a safetensors file.
        shape: what it does not say.
        segment: tokens it reads at once; None: as many as it has positions, or 512 without.

    Raises:
        CheckpointError: no such file, a pickle, tensors that are missing, of another shape or not finite.
        ConfigError: a shape that does not fit them.
    """
    with open_tensors(file) as found:
        prefixes = [name.removesuffix(FIRST) for name in found.names if name.endswith(FIRST)]
        if len(prefixes) != 1:
            raise CheckpointError(
                where=str(file),
                expected=f"one tensor {FIRST} of an nn.TransformerEncoder",
                found=", ".join(name + FIRST for name in prefixes) or "none",
            )
        require(shape.heads >= 1, "teacher.heads", shape.heads, ">= 1, which no tensor tells: --set teacher.heads=N")
        prefix = prefixes[0]
        if f"{prefix}layers.0.multihead_attn.in_proj_weight" in found:
            name = f"{prefix}layers.0.multihead_attn.in_proj_weight"
            raise CheckpointError(where=f"{file} ({name})", expected="an nn.TransformerEncoder", found="a decoder")
        vocabulary, width = (*found.shape(shape.embedding), 0)[:2]
        positions = _positions(found, shape.positions, width) if shape.positions else None
        places = segment or 512 if positions is None else len(positions)
        require(
            (segment or 1) <= places, "segment", segment, f"at most {places} tokens, the places of {shape.positions}"
        )
        inner = f"{prefix}layers.0.linear1.weight"
        layers = 0
        while f"{prefix}layers.{layers}.self_attn.in_proj_weight" in found:
            layers += 1
        final = f"{prefix}norm.weight" in found
        config = ModelConfig(
            vocabulary=vocabulary,
            width=width,
            layers=layers,
            heads=shape.heads,
            pattern=("softmax",),
            visibility="segment",
            segment=segment or places,
            across=False,
            convolution=0,
            norm="layer",
            norm_epsilon=shape.norm_epsilon,
            post_norm=not shape.norm_first,
            final_norm=final,
            positions="none" if positions is None else "learned",
            bias=True,
            feedforward=shape.activation,
            feedforward_width=(*found.shape(inner), 0)[0],
        )
        weights = {"embedding.weight": found.take(shape.embedding, (vocabulary, width))}
        if positions is not None:
            weights["positions.weight"] = positions[: config.segment]
        for i in range(layers):
            weights |= _layer(found, f"{prefix}layers.{i}", f"layers.{i}", config)
        if final:
            weights |= norm(found, f"{prefix}norm", "norm", width)
        return Teacher(kind="nn.TransformerEncoder", model=filled(config, weights), left=tuple(found.left))


def _positions(found: Tensors, name: str, width: int) -> Tensor:
    """(P, D), whichever axis of one it is kept with."""
    shape = found.shape(name)
    if len(shape) == 3 and 1 in shape[:2]:
        wanted = (1, None, width) if shape[0] == 1 else (None, 1, width)
        return found.take(name, wanted).flatten(0, 1)
    return found.take(name, (None, width))


def _layer(found: Tensors, theirs: str, ours: str, config: ModelConfig) -> dict[str, Tensor]:
    width, inner = config.width, config.inner_width
    bias = f"{theirs}.self_attn.in_proj_bias"
    return {
        f"{ours}.mixer.project.weight": found.take(f"{theirs}.self_attn.in_proj_weight", (3 * width, width)),
        f"{ours}.mixer.project.bias": found.take(bias, (3 * width,)) if bias in found else torch.zeros(3 * width),
        **affine(found, (f"{theirs}.self_attn.out_proj",), f"{ours}.mixer.output", (width, width)),
        **norm(found, f"{theirs}.norm1", f"{ours}.mixer_norm", width),
        **affine(found, (f"{theirs}.linear1",), f"{ours}.feedforward.expand", (inner, width)),
        **affine(found, (f"{theirs}.linear2",), f"{ours}.feedforward.output", (width, inner)),
        **norm(found, f"{theirs}.norm2", f"{ours}.feedforward_norm", width),
    }
