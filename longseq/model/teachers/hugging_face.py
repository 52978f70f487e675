"""Directories that Hugging Face's transformers writes of BERT (Devlin et al. 2019), RoBERTa and DistilBERT."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from longseq.config import require
from longseq.errors import CheckpointError, ConfigError
from longseq.formats.jsonfile import read_json
from longseq.model.config import ModelConfig
from longseq.model.teachers.teacher import Teacher, affine, filled, norm
from longseq.model.tensors import Tensors, open_tensors

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


@dataclass(frozen=True)
class _Names:
    """How an architecture spells what all three have."""

    layer: str
    query: str
    key: str
    value: str
    output: str
    mixer_norm: str
    expand: str
    contract: str
    feedforward_norm: str
    width: str = "hidden_size"
    layers: str = "num_hidden_layers"
    heads: str = "num_attention_heads"
    inner: str = "intermediate_size"
    activation: str = "hidden_act"


_BERT = _Names(
    layer="encoder.layer",
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    output="attention.output.dense",
    mixer_norm="attention.output.LayerNorm",
    expand="intermediate.dense",
    contract="output.dense",
    feedforward_norm="output.LayerNorm",
)
_DISTILBERT = _Names(
    layer="transformer.layer",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    output="attention.out_lin",
    mixer_norm="sa_layer_norm",
    expand="ffn.lin1",
    contract="ffn.lin2",
    feedforward_norm="output_layer_norm",
    width="dim",
    layers="n_layers",
    heads="n_heads",
    inner="hidden_dim",
    activation="activation",
)
NAMES = {"bert": _BERT, "roberta": _BERT, "distilbert": _DISTILBERT}
"""Architectures by the `model_type` of their configuration."""


def read_directory(path: Path, ends: tuple[int, int], segment: int | None = None) -> Teacher:
    """The encoder of a directory with config.json and model.safetensors, or several files and their index.

    Positions are those of one text from its start and all tokens are of type 0, whose embedding is added to that of
    each position.

    Args:
        path: the directory.
        ends: ids of the special tokens in front of and behind a text.
        segment: tokens it reads at once, special ones included; None: as many as it has positions.

    Raises:
        CheckpointError: another architecture, a setting that is not supported, a pickle, tensors that are missing, of
            another shape or not finite.
        ConfigError: a segment longer than its positions.
    """
    facts = _Facts(path / "config.json")
    kind = facts.one_of("model_type", tuple(NAMES), remedy="decoder-only and encoder-decoder models are not converted")
    names = NAMES[kind]
    facts.one_of("is_decoder", (False,), default=False)
    facts.one_of("position_embedding_type", ("absolute",), default="absolute")
    activation = facts.one_of(names.activation, ("gelu", "relu"), default="gelu")
    width, vocabulary = facts.number(names.width), facts.number("vocab_size")
    # RoBERTa counts positions from behind that of the padding token (fairseq's habit).
    skipped = facts.number("pad_token_id", 1) + 1 if kind == "roberta" else 0
    places = facts.number("max_position_embeddings") - skipped
    require((segment or 1) <= places, "segment", segment, f"at most {places} tokens, the positions of {path}")
    for name, end in zip(("first", "last"), ends, strict=True):
        if end >= vocabulary:
            expected = f"a {name} special token below vocab_size ({vocabulary})"
            raise CheckpointError(where=str(path), expected=expected, found=f"id {end} in its tokenizer")
    config = facts.checked(
        vocabulary=vocabulary,
        width=width,
        layers=facts.number(names.layers),
        heads=facts.number(names.heads),
        pattern=("softmax",),
        visibility="segment",
        segment=segment or places,
        across=False,
        frame=ends,
        convolution=0,
        norm="layer",
        norm_epsilon=facts.real("layer_norm_eps", 1e-12),
        post_norm=True,
        embedding_norm=True,
        final_norm=False,
        positions="learned",
        bias=True,
        feedforward=activation,
        feedforward_width=facts.number(names.inner),
    )
    with open_tensors(*_files(path)) as found:
        prefix = f"{kind}." if any(name.startswith(f"{kind}.") for name in found.names) else ""
        weights = _embeddings(found, f"{prefix}embeddings", config, skipped, places)
        for i in range(config.layers):
            weights |= _layer(found, f"{prefix}{names.layer}.{i}", f"layers.{i}", names, config)
        extra = f"{prefix}{names.layer}.{config.layers}."
        more = next((name for name in found.left if name.startswith(extra)), None)
        if more is not None:
            raise CheckpointError(
                where=f"{path} ({more})", expected=f"{config.layers} layers, as {names.layers} says", found="more"
            )
        return Teacher(kind=kind, model=filled(config, weights), left=tuple(found.left))


def _embeddings(found: Tensors, theirs: str, config: ModelConfig, skipped: int, places: int) -> dict[str, Tensor]:
    width = config.width
    positions = found.take(f"{theirs}.position_embeddings.weight", (skipped + places, width))[skipped:]
    types = f"{theirs}.token_type_embeddings.weight"
    if types in found:
        kinds = found.take(types, (None, width)).float()
        if not len(kinds):
            raise CheckpointError(where=f"{found.where} ({types})", expected="one row at least", found="none")
        positions = positions.float() + kinds[0]
    return {
        "embedding.weight": found.take(f"{theirs}.word_embeddings.weight", (config.vocabulary, width)),
        "positions.weight": positions[: config.segment],
        **norm(found, f"{theirs}.LayerNorm", "embedding_norm", width),
    }


def _layer(found: Tensors, theirs: str, ours: str, names: _Names, config: ModelConfig) -> dict[str, Tensor]:
    width, inner = config.width, config.inner_width
    heads = tuple(f"{theirs}.{name}" for name in (names.query, names.key, names.value))
    return {
        **affine(found, heads, f"{ours}.mixer.project", (width, width)),
        **affine(found, (f"{theirs}.{names.output}",), f"{ours}.mixer.output", (width, width)),
        **norm(found, f"{theirs}.{names.mixer_norm}", f"{ours}.mixer_norm", width),
        **affine(found, (f"{theirs}.{names.expand}",), f"{ours}.feedforward.expand", (inner, width)),
        **affine(found, (f"{theirs}.{names.contract}",), f"{ours}.feedforward.output", (width, inner)),
        **norm(found, f"{theirs}.{names.feedforward_norm}", f"{ours}.feedforward_norm", width),
    }


def _files(path: Path) -> list[Path]:
    if (path / WEIGHTS).is_file():
        return [path / WEIGHTS]
    if (path / INDEX).is_file():
        of = _Facts(path / INDEX).facts.get("weight_map")
        parts = sorted(set(of.values())) if isinstance(of, dict) else []
        if parts and all(isinstance(part, str) and Path(part).name == part for part in parts):
            return [path / part for part in parts]
        raise CheckpointError(where=str(path / INDEX), expected="a weight_map to files beside it", found=repr(of)[:80])
    pickles = sorted(file.name for file in path.iterdir() if file.suffix in (".bin", ".pt", ".pth", ".ckpt"))
    raise CheckpointError(
        where=str(path),
        expected=WEIGHTS,
        found=f"only {pickles[0]}, a pickle, which is never read, for it can run any code" if pickles else "none",
        remedy="save it with transformers' save_pretrained, which writes safetensors",
    )


class _Facts:
    """A JSON file of settings."""

    def __init__(self, file: Path):
        self.file = file
        try:
            self.facts: Any = read_json(file)
        except (OSError, ValueError) as error:
            raise CheckpointError(where=str(file), expected="JSON", found=str(error)) from None
        if not isinstance(self.facts, dict):
            raise CheckpointError(where=str(file), expected="a JSON object", found=type(self.facts).__name__)

    def one_of(self, key: str, known: tuple[Any, ...], default: Any = None, remedy: str | None = None) -> Any:
        """The value, which is among `known`."""
        value = self.facts.get(key, default)
        if value not in known:
            expected = " or ".join(json.dumps(item) for item in known)
            raise CheckpointError(where=f"{self.file} ({key})", expected=expected, found=repr(value), remedy=remedy)
        return value

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number, 0 at least."""
        value = self.facts.get(key, default)
        if type(value) is not int or value < 0:
            raise CheckpointError(where=f"{self.file} ({key})", expected="a whole number", found=repr(value))
        return value

    def real(self, key: str, default: float) -> float:
        value = self.facts.get(key, default)
        if type(value) not in (int, float):
            raise CheckpointError(where=f"{self.file} ({key})", expected="a number", found=repr(value))
        return float(value)

    def checked(self, **settings: Any) -> ModelConfig:
        """The model of these settings."""
        try:
            return ModelConfig(**settings)
        except ConfigError as error:
            raise CheckpointError(str(error), where=str(self.file)) from None
