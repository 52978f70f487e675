"""What is minimised: by attention transfer, and by distillation.

A loss is weighed by the valid tokens of its batch, so that the mean over a step is the loss itself.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.config import require
from longseq.model import Model
from longseq.training.transfer.config import DistilConfig, TransferConfig
from longseq.training.transfer.teaching import Teacher, attention_errors, behind, error, mixers_of, pooled
from longseq.training.transfer.weights import divergence


class AttentionTransfer(nn.Module):
    """The sum over layers of how far attention is from the teacher's, each layer given what the teacher's hears (Zhang
    et al. 2024, "The hedgehog and the porcupine", section 4.2; of outputs: Zhang et al. 2025, "LoLCATs", section 3.2).
    """

    def __init__(self, model: Model, teacher: Teacher, settings: TransferConfig):
        super().__init__()
        self.model, self.teacher, self._settings = model, teacher, settings

    def forward(
        self, ids: Tensor, weight: Tensor, mask: Tensor | None = None, state: Any = None
    ) -> tuple[Tensor, Tensor, None]:
        """ids (B, T), weight (B, T), mask (B, T) → loss times tokens, tokens, no state."""
        answer = self.teacher(ids, mask)
        if ids.shape[1] <= self._settings.weights:
            mixers = zip(mixers_of(self.teacher.encoder), mixers_of(self.model.encoder), answer.heard, strict=True)
            loss = torch.stack([divergence(theirs, ours, x, mask) for theirs, ours, x in mixers]).sum()
        else:
            loss = attention_errors(self.model.encoder, answer, mask).sum()
        loss = loss + untouched(self.model)
        tokens = weight.sum()
        return loss * tokens, tokens, None


class Distillation(nn.Module):
    """How far hidden vectors and their means are from the teacher's, of the model by itself."""

    def __init__(self, model: Model, teacher: Teacher, settings: DistilConfig):
        super().__init__()
        self.model, self.teacher, self._settings = model, teacher, settings

    def forward(
        self, ids: Tensor, weight: Tensor, mask: Tensor | None = None, state: Any = None
    ) -> tuple[Tensor, Tensor, None]:
        """ids (B, T), weight (B, T), mask (B, T) → loss times tokens, tokens, no state."""
        settings, answer = self._settings, self.teacher(ids, mask)
        with behind(self.model.encoder) as layers:
            hidden = self.model.encoder(ids, None, mask)[0]
        loss = settings.hidden * error(hidden, answer.hidden, mask)
        if settings.pooled:
            alike = F.cosine_similarity(pooled(hidden, mask), pooled(answer.hidden, mask))
            loss = loss + settings.pooled * (1 - alike).mean()
        inner = list(zip(layers[:-1], answer.layers[:-1], strict=True))
        if settings.layers and inner:
            loss = loss + settings.layers * torch.stack([error(*pair, mask) for pair in inner]).mean()
        loss = loss + untouched(self.model)
        tokens = weight.sum()
        return loss * tokens, tokens, None


def require_learners(model: Model, settings: TransferConfig | DistilConfig) -> None:
    """Raise ConfigError where the settings leave nothing to learn: a map without weights, and nothing beside it."""
    if fresh(model):
        return
    if isinstance(settings, TransferConfig):
        rule = "true, or left away, with a map that has no weights"
        require(settings.projections is not False, "transfer.projections", False, rule)
    else:
        require(settings.trained == "all", "distil.trained", "maps", "'all' with a map that has no weights")


def freeze_for_transfer(model: Model, settings: TransferConfig) -> None:
    """Leave to train what stands in the softmax's place, and the projections where the settings say so.

    Raises:
        ConfigError: there is neither.
    """
    require_learners(model, settings)
    model.requires_grad_(False)
    new = fresh(model)
    for parameter in new:
        parameter.requires_grad_()
    if settings.projections or (settings.projections is None and not new):
        for mixer in mixers_of(model.encoder):
            mixer.project.requires_grad_()


def freeze_for_distillation(model: Model, settings: DistilConfig) -> None:
    """Leave to train what the settings say; adapters, and what they left frozen, stay as they are.

    Raises:
        ConfigError: maps alone, of a model whose map has no weights.
    """
    require_learners(model, settings)
    new = fresh(model)
    if settings.trained == "maps":
        model.requires_grad_(False)
    for parameter in new:
        parameter.requires_grad_()
    for gate in gates(model):
        gate.requires_grad_(False)


def fresh(model: Model) -> list[nn.Parameter]:
    """What stands in the softmax's place: parameters of feature maps, and gains. Not the gates: a segment by itself
    tells them nothing, and they get no gradient."""
    found: list[nn.Parameter] = []
    for mixer in mixers_of(model.encoder):
        found += [*mixer.map.parameters(), *([] if mixer.gain is None else [mixer.gain])]
    return found


def gates(model: Model) -> list[nn.Parameter]:
    """(H,) of each layer that has one, before their tanh."""
    return [mixer.gate for mixer in mixers_of(model.encoder) if mixer.gate is not None]


def untouched(model: Model) -> Tensor:
    """Zero, and of gradient zero in what stands in the softmax's place: texts within a window ask nothing of it, and
    processes that average gradients must find them all."""
    nothing = model.encoder.embedding.weight.new_zeros(())
    return 0.0 * torch.stack([nothing, *(p.sum() for p in fresh(model) if p.requires_grad)]).sum()
