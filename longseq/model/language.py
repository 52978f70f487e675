"""A causal language model: the encoder and its next-token head."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.config import require
from longseq.model.config import ModelConfig
from longseq.model.encoder import Encoder
from longseq.model.heads import NextToken
from longseq.model.state import State
from longseq.ops.exchange import Exchange


class LanguageModel(nn.Module):
    def __init__(self, config: ModelConfig):
        """Raises ConfigError unless `config.visibility` is causal."""
        super().__init__()
        require(
            config.visibility == "causal",
            "model.visibility",
            config.visibility,
            "'causal' in a language model: any other would see the token it scores",
        )
        self.config = config
        self.encoder = Encoder(config)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed + 1)
            self.head = NextToken(config.width, config.vocabulary)

    def forward(
        self,
        ids: Tensor,
        state: State | None = None,
        mask: Tensor | None = None,
        exchange: Exchange | None = None,
    ) -> tuple[Tensor, State]:
        """ids (B, T) → logits (B, T, vocabulary) of each of these tokens given all before it, and the state."""
        hidden, after = self.encoder(ids, state, mask, exchange)
        if exchange is not None:
            seen = after.seen - (ids.shape[1] if mask is None else mask.sum(1))
            start = torch.zeros_like(after.last) if state is None else state.last
            state = State((), seen, exchange.tail(after.last[:, None], start[:, None].to(after.last.dtype))[:, 0])
        return self.head(hidden, state), after

    def loss(
        self,
        ids: Tensor,
        weight: Tensor | None = None,
        state: State | None = None,
        exchange: Exchange | None = None,
    ) -> tuple[Tensor, Tensor, State]:
        """Sum of weight · -log p(token | all before it) in nats, sum of the weights, and the state.

        ids (B, T) int64; weight (B, T), 0 where a token is not scored; None: all count once. With an exchange all this
        is of one slice, and the sums are to be added up.
        """
        logits, after = self(ids, state, exchange=exchange)
        nats = F.cross_entropy(logits.float().flatten(0, 1), ids.flatten(), reduction="none").view(ids.shape)
        if weight is None:
            return nats.sum(), nats.new_tensor(nats.numel()), after
        return (nats * weight).sum(), weight.sum(), after
