"""Losses of heads over records and over tokens: modules whose call is the sum to minimise."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.model import RecordModel, TokenModel
from longseq.training.spans import Means


class RecordLoss(nn.Module):
    """Cross-entropy of a class; mean over the classes of the binary one; mean squared error of scaled numbers."""

    def __init__(self, model: RecordModel, *, smoothing: float = 0.0, positive: Tensor | None = None):
        """`smoothing` is the share of a target that is spread evenly; `positive` (C,) how much a label that is there
        counts beside one that is not (multilabel)."""
        super().__init__()
        self.model, self._smoothing = model, smoothing
        self.register_buffer("positive", positive, persistent=False)

    def forward(
        self, ids: Tensor, weight: Tensor, targets: Tensor, mask: Tensor | None = None, state: Any = None
    ) -> tuple[Tensor, Tensor, Any]:
        """ids (B, T), weight (B,), targets (B,) or (B, C) → sum of weighted losses, sum of weights, the reading."""
        scores, after = self.scores(ids, mask, state)
        loss = self.loss(scores.float(), targets)
        return (loss * weight).sum(), weight.sum(), after

    def scores(self, ids: Tensor, mask: Tensor | None, state: Any = None) -> tuple[Tensor, Any]:
        """(B, C) of all read so far, and the reading."""
        return self.model(ids, state, mask)

    def loss(self, scores: Tensor, targets: Tensor) -> Tensor:
        """scores (B, C) → (B,) nats, or squared errors."""
        task = self.model.head_config.task
        if task == "classify":
            return F.cross_entropy(scores, targets, reduction="none", label_smoothing=self._smoothing)
        if task == "multilabel":
            soft = targets * (1 - self._smoothing) + self._smoothing / 2
            positive = self.positive if isinstance(self.positive, Tensor) else None
            return F.binary_cross_entropy_with_logits(scores, soft, reduction="none", pos_weight=positive).mean(1)
        return ((scores - targets) ** 2).mean(1)


class SpanLoss(RecordLoss):
    """The same of records that were read before: `ids` are places of the means of their spans, `mask` their tokens."""

    def __init__(self, model: RecordModel, means: Means, *, smoothing: float = 0.0, positive: Tensor | None = None):
        super().__init__(model, smoothing=smoothing, positive=positive)
        self._means = means

    def scores(self, ids: Tensor, mask: Tensor | None, state: Any = None) -> tuple[Tensor, Any]:
        assert mask is not None
        with torch.autocast(ids.device.type, enabled=False):  # little work, which halves of a precision would blur
            return self.model.head.of_spans(self._means.at(ids), mask), None


class TokenLoss(nn.Module):
    """Cross-entropy of a class at each token."""

    def __init__(self, model: TokenModel, *, smoothing: float = 0.0):
        super().__init__()
        self.model, self._smoothing = model, smoothing

    def forward(
        self, ids: Tensor, weight: Tensor, targets: Tensor, mask: Tensor | None = None, state: Any = None
    ) -> tuple[Tensor, Tensor, Any]:
        """ids, weight, targets (B, T) → sum of weighted nats, sum of weights, the state after (if any)."""
        scores, after = self.model(ids, state, mask)
        loss = F.cross_entropy(
            scores.float().flatten(0, 1), targets.flatten(), reduction="none", label_smoothing=self._smoothing
        )
        # What stands where a token is masked is arbitrary, and may be no number.
        kept = torch.where(weight > 0, loss.view(weight.shape) * weight, 0.0)
        return kept.sum(), weight.sum(), after
