"""An extractor: how much a summary should want each sentence of a document, from what is told of all of them.

Each sentence has traits (numbers that were told of it) and perhaps a state (the pooled hidden vector that an encoder of
tokens left of it). A linear reading of both judges a sentence by itself; a second recurrence, over sentences and both
ways, adds what its neighbours and the rest of the document make of it. There are two answers: the logit of being among
the sentences that an oracle chose (Nallapati, Zhai and Zhou 2017, "SummaRuNNer"), and the share of its words and pairs
of words that the reference holds. What either misses the other one sees; their sum ranks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from longseq.config import from_mapping, require, to_mapping
from longseq.errors import CheckpointError, ConfigError
from longseq.formats.jsonfile import read_json
from longseq.model.beside import LONGEST
from longseq.model.config import ModelConfig
from longseq.model.encoder import Layer
from longseq.model.feedforward import norm
from longseq.model.tensors import filled

SCHEMA = "longseq.extractor/1"
ANSWERS = 2
"""Logit of being chosen; share of it that the reference holds."""
_CONFIG, WEIGHTS, ENCODER = "config.json", "model.safetensors", "encoder"


@dataclass(frozen=True, kw_only=True)
class ExtractorConfig:
    """What an extractor reads, and the shape of its recurrence over sentences."""

    traits: tuple[str, ...]
    """Names of the numbers told of each sentence, in order."""
    states: int = 0
    """D, channels of a sentence's state; 0: no encoder reads the sentences."""
    layers: int = 1
    """Layers of the recurrence over sentences, each way; 0: every sentence is judged by itself."""
    width: int = 32
    """Channels of the recurrence."""
    heads: int = 2
    """Attention heads of its layers."""
    pattern: tuple[str, ...] = ("gated",)
    """Mixer of each layer, repeated over the layers."""
    dropout: float = 0.1
    """Share of residual channels dropped in training."""
    seed: int = 0
    """Of the initial weights."""

    def __post_init__(self):
        require(bool(self.traits), "extractor.traits", self.traits, "one trait at least")
        require(self.states >= 0, "extractor.states", self.states, ">= 0 channels")
        require(self.layers >= 0, "extractor.layers", self.layers, ">= 0")
        self.stack()

    def stack(self) -> ModelConfig:
        """Of one direction of the recurrence."""
        return ModelConfig(
            vocabulary=2,
            width=self.width,
            layers=max(self.layers, 1),
            heads=self.heads,
            pattern=self.pattern,
            dropout=self.dropout,
            seed=self.seed,
            longest=1024,
        )


class Extractor(nn.Module):
    centre: Tensor
    spread: Tensor
    unit: Tensor

    def __init__(self, config: ExtractorConfig):
        super().__init__()
        self.config, stack = config, config.stack()
        inputs = len(config.traits) + config.states
        self.register_buffer("centre", torch.zeros(inputs))
        self.register_buffer("spread", torch.ones(inputs))
        self.register_buffer("unit", torch.ones(ANSWERS))
        """Of each answer, its spread over the sentences learned from."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.alone = nn.Linear(inputs, ANSWERS)
            self.forwards, self.backwards = (
                nn.ModuleList(Layer(stack, layer) for layer in range(config.layers)) for _ in range(2)
            )
            if config.layers:
                self.enter = nn.Linear(inputs, config.width)
                self.norm = norm(stack)
                self.together = nn.Linear(2 * config.width, ANSWERS)
                nn.init.zeros_(self.together.weight)  # it begins as a judge of sentences by themselves
                nn.init.zeros_(self.together.bias)

    def scaled(self, traits: Tensor, states: Tensor | None = None) -> Tensor:
        """traits (S, F) and states (S, D) side by side, each channel about 0 and of about unit spread."""
        both = traits if states is None else torch.cat([traits, states], -1)
        return ((both - self.centre) / self.spread).clamp(-8, 8)

    def forward(self, traits: Tensor, states: Tensor | None = None) -> Tensor:
        """All sentences of one document, traits (S, F) and states (S, D), None without an encoder → (S, 2) answers."""
        inputs = self.scaled(traits, states)
        answers = self.alone(inputs)
        if self.config.layers and len(inputs):
            x = self.enter(inputs)[None]
            ways = [self._read(self.forwards, x), self._read(self.backwards, x.flip(1)).flip(1)]
            answers = answers + self.together(torch.cat(ways, -1)[0])
        return answers

    def worth(self, answers: Tensor) -> Tensor:
        """(S, 2) answers → (S,) on the scale of logarithms: both answers in units of their spread."""
        return (answers / self.unit).sum(-1) / ANSWERS**0.5

    def _read(self, layers: nn.ModuleList, x: Tensor) -> Tensor:
        for layer in layers:
            x, _ = layer(x)
        return self.norm(x)


def save_extractor(directory: str | Path, model: Extractor, card: str) -> None:
    """Write config.json, model.safetensors and the card into a directory of an output that is being written."""
    from longseq import __version__

    folder = Path(directory)
    facts = {"schema": SCHEMA, "longseq": __version__, "extractor": to_mapping(model.config)}
    (folder / _CONFIG).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    tensors = {name: tensor.detach().contiguous().clone() for name, tensor in model.state_dict().items()}
    (folder / WEIGHTS).write_bytes(to_bytes(tensors, metadata={"format": "pt"}))
    (folder / "README.md").write_text(card, encoding="utf-8")


def load_extractor(directory: str | Path) -> Extractor:
    """An extractor in evaluation mode.

    Raises:
        CheckpointError: no extractor, of another schema, or tensors that are missing, of another shape or not finite.
    """
    folder = Path(directory)
    file = folder / _CONFIG
    remedy = "`longseq train DATA --task extract` makes one"
    try:
        facts = read_json(file, most=LONGEST)
    except (OSError, ValueError) as error:
        raise CheckpointError(where=str(file), expected="JSON", found=str(error), remedy=remedy) from None
    schema = facts.get("schema") if isinstance(facts, dict) else None
    if schema != SCHEMA:
        raise CheckpointError(where=str(file), expected=f"schema {SCHEMA}", found=repr(schema), remedy=remedy)
    try:
        config = from_mapping(ExtractorConfig, facts.get("extractor", {}), "extractor.")
    except (ConfigError, TypeError) as error:
        raise CheckpointError(str(error), where=str(file)) from None
    model = filled(lambda: Extractor(config), folder / WEIGHTS, config.layers)
    for name in ("spread", "unit"):
        if not (getattr(model, name) > 0).all():
            raise CheckpointError(where=f"{folder / WEIGHTS} ({name})", expected="numbers above 0", found="others")
    return model.eval()
