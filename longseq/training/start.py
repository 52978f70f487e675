"""Where a run starts: from nothing, or from a model that was trained before."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from longseq.config import from_mapping
from longseq.errors import ConfigError
from longseq.model import Model, ModelConfig, load
from longseq.model.checkpoint import locate, read_config
from longseq.tokens import DnaTokenizer
from longseq.training.config import TrainConfig
from longseq.training.tasks import Task

FREE = ("dropout",)
"""Settings of a model that its weights do not depend on."""


def resolve(config: TrainConfig, last: Path | None) -> TrainConfig:
    """The configuration with the model settings of `config.start`, or of the checkpoint `last` of the same run.

    Raises:
        CheckpointError: no model is there.
        ConfigError: model settings that are neither its own nor the defaults.
    """
    if config.start is None:
        return config
    facts = read_config(last or locate(config.start))
    found, default = from_mapping(ModelConfig, facts.get("model", {}), "model."), ModelConfig()
    for field in fields(ModelConfig):
        given = getattr(config.model, field.name)
        if field.name not in FREE and given not in (getattr(found, field.name), getattr(default, field.name)):
            raise ConfigError(
                where=f"model.{field.name}",
                expected=f"{getattr(found, field.name)!r} as in {config.start}",
                found=repr(given),
                remedy="leave it away",
            )
    return replace(config, model=replace(found, **{name: getattr(config.model, name) for name in FREE}))


def first_model(config: TrainConfig, task: Task) -> Model:
    """A new model, with the encoder of `config.start`, and its head where that answers the same.

    Raises:
        ConfigError: its tokens are others.
    """
    model = task.model()
    if config.start is None:
        return model
    found = load(config.start)
    if not isinstance(found.tokenizer, DnaTokenizer) or found.tokenizer.alphabet != task.tokenizer.alphabet:
        ambiguity = found.tokenizer.alphabet.ambiguity if isinstance(found.tokenizer, DnaTokenizer) else None
        raise ConfigError(
            where="start",
            expected="a model that reads the same tokens",
            found=f"another alphabet in {config.start}",
            remedy=f"data.ambiguity={ambiguity}" if ambiguity else "name a model of DNA",
        )
    model.encoder.load_state_dict(found.model.encoder.state_dict())
    if _head(found.model) == _head(model):
        model.head.load_state_dict(found.model.head.state_dict())
    return model


def _head(model: Model) -> object:
    """What a head answers."""
    return (getattr(model, "head_config", None), getattr(model, "labels", None))
