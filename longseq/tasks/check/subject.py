"""What is checked: a checkpoint, or a small random model of one mixer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from longseq.config import load as load_config
from longseq.errors import UsageError
from longseq.model import Encoder, LanguageModel, ModelConfig, State, load
from longseq.model.mixers import MIXERS
from longseq.model.state import named_tensors
from longseq.tasks.check.reading import memories
from longseq.tokens import DnaTokenizer

SMALL = ("model.width=32", "model.heads=2", "model.layers=2")
"""Shape of the random models, unless settings say otherwise."""
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class Subject:
    """A model under check."""

    name: str
    model: LanguageModel | Encoder
    """float32, in evaluation mode, on its device. A language model is read by its scores, an encoder by its hidden
    vectors."""
    complement: Callable[[np.ndarray], np.ndarray] | None = None
    """Ids of the complementary letters, for models of DNA."""
    sha256: str | None = None
    """Digest of the checkpoint."""
    _variants: dict = field(default_factory=dict, repr=False)

    @property
    def config(self) -> ModelConfig:
        return self.model.config

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def grid(self) -> int:
        """Tokens at whose multiples a record may be cut."""
        return self.config.segment if self.config.visibility == "segment" else 1

    @property
    def holds_memory(self) -> bool:
        """Whether any layer has the compensated memory of linear attention."""
        return bool(memories(self._state(self.grid)))

    @property
    def grows(self) -> bool:
        """Whether the state of the model grows with what it reads."""
        short, long = ([x.shape for _, x in named_tensors(self._state(n * self.grid))] for n in (1, 2))
        return short != long

    def _state(self, tokens: int) -> State:
        with torch.inference_mode():
            return self.encoder()(self.ids(1, tokens))[1]

    def encoder(self, precision: str = "float32", **options: int) -> Encoder:
        """The encoder of a variant."""
        model = self.variant(precision, **options)
        return model.encoder if isinstance(model, LanguageModel) else model

    def variant(self, precision: str = "float32", **options: int) -> LanguageModel | Encoder:
        """The same weights in another precision, or read with other settings of speed (`block`, `rescale`)."""
        key = (precision, *sorted(options.items()))
        if key not in self._variants:
            with torch.inference_mode(False):  # its gradients are wanted too, whoever asks for it first
                model = type(self.model)(replace(self.config, **options))  # type: ignore[arg-type]
                model.load_state_dict(self.model.state_dict())
                self._variants[key] = model.eval().to(self.device, DTYPES[precision])
        return self._variants[key]

    def ids(self, batch: int, length: int, seed: int = 0) -> Tensor:
        """Drawn tokens (batch, length): for DNA mostly A, C, G, T; each lane holds a run of one symbol."""
        generator = torch.Generator().manual_seed(seed)
        ids = torch.randint(self.config.vocabulary, (batch, length), generator=generator)
        if self.complement is not None:
            rare = torch.rand(batch, length, generator=generator) < 0.02
            ids = torch.where(rare, ids, ids % 4)
        ids[:, length // 3 : length // 3 + 40] = 0
        return ids.to(self.device)


def checkpoint(name: str, device: str = "cpu") -> Subject:
    """A shipped model or a checkpoint directory.

    Raises:
        CheckpointError, AlphabetError: what stands there is none.
        UsageError: there is no such device.
    """
    require_device(device)
    found = load(name, device)
    tokenizer = found.tokenizer
    return Subject(
        name=name,
        model=found.model if isinstance(found.model, LanguageModel) else found.model.encoder,
        complement=tokenizer.complement if isinstance(tokenizer, DnaTokenizer) else None,
        sha256=found.sha256,
    )


@dataclass(frozen=True, kw_only=True)
class _Settings:
    model: ModelConfig
    """Of a random model."""


def random_model(
    mixer: str, feature_map: str | None = None, assignments: Sequence[str] = (), device: str = "cpu"
) -> Subject:
    """A small model of one mixer with random weights; `assignments` are `model.key=value`.

    Raises:
        ConfigError: no such mixer or feature map, or another wrong setting.
        UsageError: there is no such device.
    """
    require_device(device)
    given = [*SMALL, f'model.pattern=["{mixer}"]']
    if feature_map is not None:
        given.append(f'model.feature_map="{feature_map}"')
    config = load_config(_Settings, None, [*given, *assignments]).model
    name = mixer if feature_map is None else f"{mixer} {feature_map}"
    return Subject(name=name, model=Encoder(config).eval().to(device))


def opened(subject: Subject) -> list[Subject]:
    """The model with drawn gates to its memory, where it has closed ones, behind which nothing could be wrong."""
    closed = [
        name for name, weight in subject.model.named_parameters() if name.endswith("mixer.gate") and not weight.any()
    ]
    if not closed:
        return []
    model = copy.deepcopy(subject.model)
    generator = torch.Generator().manual_seed(6)
    with torch.no_grad():
        for name in closed:
            weight = model.get_parameter(name)
            weight.copy_(torch.randn(weight.shape, generator=generator))
    return [replace(subject, name=f"{subject.name}, gates open", model=model, _variants={})]


def mixer_names() -> list[str]:
    """All mixers there are."""
    return list(MIXERS)


def require_device(device: str) -> None:
    """Raise `UsageError` unless tensors can live on `device`."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        found = str(error).splitlines()[0]
        raise UsageError(where="--device", expected=f"a usable device {device!r}", found=found) from None
