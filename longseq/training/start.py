"""Where a run starts: from nothing, or from a model that was trained before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import torch
from torch import Tensor

from longseq import tokens
from longseq.config import from_mapping
from longseq.errors import ConfigError
from longseq.model import Model, ModelConfig, adapter, load
from longseq.model.checkpoint import locate, read_config
from longseq.model.head_config import OVER_TOKENS
from longseq.tokens import DnaTokenizer
from longseq.tokens.stream import StreamTokenizer
from longseq.training.config import TrainConfig
from longseq.training.documents import AnyTokenizer
from longseq.training.pairs import paired
from longseq.training.tasks import Task

FREE = ("dropout", "visibility")
"""Settings of a model that its weights do not depend on."""
PLACES = "places.weight"
"""Of an encoder whose tokens know their place in a period; a model without a period may be given one."""


def resolve(config: TrainConfig, last: Path | None) -> TrainConfig:
    """The configuration with the model settings of `config.start`, or of the checkpoint `last` of the same run.

    The visibility is that of `config` where it is not causal; a model that reads both ways reads records one way. The
    period is that of `config` where the model has none.

    Raises:
        CheckpointError: no model is there.
        ConfigError: model settings that are neither its own nor the defaults; a converted model with special tokens.
    """
    if config.start is None:
        return config
    facts = read_config(last or locate(config.start))
    found, default = from_mapping(ModelConfig, facts.get("model", {}), "model."), ModelConfig()
    if found.frame:
        raise ConfigError(
            where="start",
            expected="a model that longseq train made",
            found=f"{config.start}, whose segments stand between special tokens, which training does not set",
            remedy="longseq embed reads it as it is",
        )
    for field in fields(ModelConfig):
        given = getattr(config.model, field.name)
        new = field.name == "period" and not found.period
        if (
            field.name not in FREE
            and not new
            and given not in (getattr(found, field.name), getattr(default, field.name))
        ):
            raise ConfigError(
                where=f"model.{field.name}",
                expected=f"{getattr(found, field.name)!r} as in {config.start}",
                found=repr(given),
                remedy="leave it away",
            )
    visibility = config.model.visibility
    forward_only = config.task in ("next", "seq2seq") or (config.task not in OVER_TOKENS and found.visibility == "both")
    if visibility == "causal" and not forward_only:
        visibility = found.visibility
    period = found.period or config.model.period
    model = replace(found, dropout=config.model.dropout, visibility=visibility, period=period)
    return replace(config, model=model)


def with_words(config: TrainConfig) -> TrainConfig:
    """With the tokenizer of `config.start`, where that reads words and no other is named.

    Raises:
        CheckpointError: no model is there.
    """
    if config.start is None or config.data.tokenizer is not None or config.data.relabel:
        return config
    file = locate(config.start) / "tokenizer.json"
    if isinstance(tokens.load(file), DnaTokenizer):
        return config
    return replace(config, data=replace(config.data, tokenizer=str(file)))


def first_model(config: TrainConfig, task: Task) -> Model:
    """A new model, with the encoder of `config.start`, and its head where that answers the same.

    Raises:
        ConfigError: its tokens are others.
    """
    model = task.model()
    if config.start is None:
        return model
    found = load(config.start)
    if not _same_tokens(found.tokenizer, task.tokenizer):
        raise ConfigError(
            where="start",
            expected="a model that reads the same tokens",
            found=f"another alphabet or tokenizer in {config.start}",
            remedy=_settings(found.tokenizer, config.start),
        )
    _fill(model.encoder, found.model.encoder)
    if _head(found.model) == _head(model):
        _fill(model.head, found.model.head)
    return model


def _fill(ours: torch.nn.Module, theirs: torch.nn.Module) -> None:
    """The weights of theirs; the rows of an id that is new (hidden, separator) begin as the mean of all others, and the
    places of a period that is new as they are."""
    weights = theirs.state_dict()
    for name, needed in ours.state_dict().items():
        known = weights.setdefault(name, needed) if name == PLACES else weights[name]
        if known.ndim and len(known) < len(needed):
            new = known.mean(0).expand(len(needed) - len(known), *known.shape[1:])
            weights[name] = torch.cat([known, new])
    ours.load_state_dict(weights)


def freeze(model: Model, config: TrainConfig, saved: Mapping[str, Tensor]) -> None:
    """Freeze what is not trained, and give the encoder its adapters, if any: new ones, or the `saved` ones.

    Raises:
        ConfigError: adapters for maps that the model has not.
    """
    model.encoder.requires_grad_(config.freeze != "encoder")
    wanted = config.adapter
    if wanted.rank:
        seed = config.model.seed + 2
        adapter.adapt(model.encoder, rank=wanted.rank, alpha=wanted.alpha, maps=wanted.maps, seed=seed)
        if saved:
            adapter.restore(model, saved)


def _same_tokens(theirs: AnyTokenizer, ours: AnyTokenizer) -> bool:
    if isinstance(theirs, DnaTokenizer) and isinstance(ours, DnaTokenizer):
        return theirs.alphabet == ours.alphabet
    if isinstance(theirs, DnaTokenizer) or isinstance(ours, DnaTokenizer):
        return False
    known = [theirs.digest()]
    if isinstance(theirs, StreamTokenizer):
        known.append(paired(theirs).digest())
    return ours.digest() in known


def _settings(tokenizer: AnyTokenizer, name: str) -> str:
    """What makes a run read the same tokens."""
    if isinstance(tokenizer, DnaTokenizer):
        return f"data.ambiguity={tokenizer.alphabet.ambiguity} without data.tokenizer"
    return f"data.tokenizer={locate(name) / 'tokenizer.json'}"


def _head(model: Model) -> object:
    """What a head answers."""
    return (getattr(model, "head_config", None), getattr(model, "labels", None))
