"""Yardsticks that are no mixers of the house: the same blocks with another reading in the place of attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.model import Encoder, ModelConfig, State
from longseq.model.mixers.heads import join_heads, split_heads

BOUND = "none"
"""The attention-free bound."""


@dataclass(frozen=True)
class Reference:
    note: str
    whole: bool
    """Reads the whole length at once; otherwise chunk by chunk."""
    visibility: str


REFERENCES = {
    BOUND: Reference("the same blocks with all their projections, each reading replaced by its value", False, "causal"),
    "softmax-bare": Reference(
        "scaled_dot_product_attention in the same blocks, causal, without positions", True, "causal"
    ),
    "softmax-both": Reference(
        "scaled_dot_product_attention in the same blocks, every token sees all, as in BERT", True, "whole"
    ),
    "gru-stack": Reference("torch.nn.GRU layers alone, without feed-forward networks", False, "causal"),
}

NOTES = {
    "softmax": "causal, rotary positions, the whole length at once",
    "gru": "a torch.nn.GRU layer in the place of attention, feed-forward networks kept",
    **{name: reference.note for name, reference in REFERENCES.items()},
}
"""What a name in a table stands for."""


class Values(nn.Module):
    """y = v: queries and keys are computed and not used."""

    state_type = tuple

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.project = nn.Linear(config.width, 3 * config.width, bias=False)
        self.output = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x: Tensor, state: Any = None, mask: Any = None, exchange: Any = None) -> tuple[Tensor, tuple]:
        """x (B, T, D) → y (B, T, D) and no state."""
        return self.output(self.project(x).chunk(3, -1)[2]), ()


class Attention(Values):
    """Softmax attention over the tokens of one call (Vaswani et al. 2017, eq. 1), causal or not."""

    def __init__(self, config: ModelConfig, causal: bool):
        super().__init__(config)
        self.heads, self.causal = config.heads, causal

    def forward(self, x: Tensor, state: Any = None, mask: Any = None, exchange: Any = None) -> tuple[Tensor, tuple]:
        """x (B, T, D) → y (B, T, D) and no state."""
        q, k, v = (split_heads(part, self.heads) for part in self.project(x).chunk(3, -1))
        return self.output(join_heads(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal))), ()


class GruStack(nn.Module):
    """Embedding and GRU layers, with the encoder's contract."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.layers = nn.GRU(config.width, config.width, config.layers, batch_first=True)

    def forward(
        self, ids: Tensor, state: State | None = None, mask: Any = None, exchange: Any = None
    ) -> tuple[Tensor, State]:
        """ids (B, T) → hidden (B, T, D) and the state after them."""
        hidden, last = self.layers(self.embedding(ids), None if state is None else state.layers[0])
        seen = ids.new_zeros(len(ids)) if state is None else state.seen
        return hidden, State((last,), seen + ids.shape[1], hidden[:, -1])


def encoder(name: str, config: ModelConfig, longest: int) -> nn.Module:
    """The encoder that is measured under `name`, a mixer's or a reference's; softmax may hold `longest` tokens."""
    if name not in REFERENCES:
        return Encoder(replace(config, pattern=(name,), capacity=max(config.capacity, longest)))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        if name == "gru-stack":
            return GruStack(config)
        made = Encoder(replace(config, pattern=("linear",)))
        for layer in made.layers:
            layer.mixer = Values(config) if name == BOUND else Attention(config, causal=name == "softmax-bare")
        return made


def reads_whole(name: str) -> bool:
    """Whether the whole length is read in one call: softmax, whose state is all it has read."""
    return REFERENCES[name].whole if name in REFERENCES else name == "softmax"


def visibility(name: str, config: ModelConfig) -> str:
    return REFERENCES[name].visibility if name in REFERENCES else config.visibility
