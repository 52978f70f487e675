"""What is minimised: the negative log-likelihood of each token after those before it."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from longseq.model import LanguageModel
from longseq.ops.exchange import Exchange


class NextTokenLoss(nn.Module):
    """A language model whose call is its loss: processes that average gradients do so only around a call."""

    def __init__(self, model: LanguageModel):
        super().__init__()
        self.model = model

    def forward(
        self, ids: Tensor, weight: Tensor, state: Any = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, Tensor, Any]:
        """ids (B, T) int64, weight (B, T) → sum of weighted nats, sum of weights, the state after.

        `exchange` joins processes that hold slices of the same windows.
        """
        return self.model.loss(ids, weight, state, exchange)
