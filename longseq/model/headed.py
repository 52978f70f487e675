"""Models that answer something else than the next token: an encoder and a head over records, or over tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from longseq.config import require
from longseq.errors import CheckpointError
from longseq.model.both import read_both
from longseq.model.config import ModelConfig
from longseq.model.encoder import Encoder
from longseq.model.heads import Classifier, Pool, Pooling
from longseq.model.language import LanguageModel
from longseq.model.state import State
from longseq.tokens import DnaTokenizer

HeadTask = Literal["classify", "multilabel", "regress", "annotate", "masked", "embed"]
OVER_TOKENS = ("annotate", "masked")
"""Tasks whose head answers at every token; the others answer for a record."""
ANSWERS = {
    "classify": "classify records",
    "multilabel": "tell which labels records have",
    "regress": "tell numbers of records",
    "annotate": "classify each token",
    "masked": "tell hidden tokens",
    "embed": "give vectors of tokens",
}


@dataclass(frozen=True, kw_only=True)
class HeadConfig:
    """What a head answers, as `config.json` keeps it."""

    task: HeadTask
    """One class of a record, any number of them, numbers of a record, a class of each token, the masked tokens, or
    nothing but hidden vectors."""
    outputs: int
    """C: classes, numbers, token ids, or channels of a hidden vector."""
    pooling: Pooling = "mean"
    """How a record is read together; heads over tokens have none."""
    span: int = 0
    """Tokens whose mean is read as one before a record is read together; 0: each token by itself."""
    offset: tuple[float, ...] = ()
    """(C,) regress: added to the scaled scores, in units of the targets."""
    scale: tuple[float, ...] = ()
    """(C,) regress: what a score of 1 is in units of the targets."""
    mask_id: int = -1
    """masked: the token id that stands where a token is hidden."""

    @property
    def answers(self) -> str:
        """What it does, for people: a model to …"""
        return ANSWERS[self.task]

    def __post_init__(self):
        require(self.outputs >= 1, "head.outputs", self.outputs, ">= 1")
        require(self.span >= 0, "head.span", self.span, ">= 0 tokens")
        numbers = self.outputs if self.task == "regress" else 0
        for name in ("offset", "scale"):
            require(len(getattr(self, name)) == numbers, f"head.{name}", getattr(self, name), f"{numbers} numbers")


class Reading(NamedTuple):
    """What the part of a record that was read so far leaves behind."""

    state: State
    pool: Pool


class RecordModel(nn.Module):
    """Scores of a record from a running reading of it, the same however the record is cut."""

    def __init__(self, config: ModelConfig, head: HeadConfig, labels: Sequence[str]):
        """Raises ConfigError with visibility "both", which reads no record chunk after chunk."""
        super().__init__()
        require(
            config.visibility != "both", "model.visibility", config.visibility, f"'causal' or 'segment' to {head.task}"
        )
        self.config, self.head_config, self.labels = config, head, tuple(labels)
        self.encoder = Encoder(config)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed + 1)
            self.head = Classifier(config.width, head.outputs, head.pooling, head.span)

    def forward(
        self, ids: Tensor, reading: Reading | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Reading]:
        """ids (B, T), T >= 1 → scores (B, C) of all read so far: logits, or numbers in units of `scale`; the reading.

        mask (B, T) bool, True where valid; None: all are.
        """
        hidden, state = self.encoder(ids, None if reading is None else reading.state, mask)
        scores, pool = self.head(hidden, None if reading is None else reading.pool, mask)
        return scores, Reading(state, pool)

    def answers(self, scores: Tensor) -> Tensor:
        """Scores (…, C) as probabilities of the classes, of each class by itself (multilabel), or as numbers."""
        if self.head_config.task == "regress":
            offset, scale = (scores.new_tensor(getattr(self.head_config, name)) for name in ("offset", "scale"))
            return scores * scale + offset
        return scores.sigmoid() if self.head_config.task == "multilabel" else scores.softmax(-1)


class TokenModel(nn.Module):
    """Scores at every token, from all that the visibility lets it see, itself included."""

    complement: Tensor | None

    def __init__(
        self, config: ModelConfig, head: HeadConfig, labels: Sequence[str] = (), complement: Tensor | None = None
    ):
        """`complement` (vocabulary,) int64: of each id; with visibility "both" the second pass reads that strand."""
        super().__init__()
        self.config, self.head_config, self.labels = config, head, tuple(labels)
        self.encoder = Encoder(config)
        self.register_buffer("complement", complement, persistent=False)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed + 1)
            self.head = nn.Linear(config.width * (2 if config.visibility == "both" else 1), head.outputs)

    def forward(
        self, ids: Tensor, state: State | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, State | None]:
        """ids (B, T) → logits (B, T, C), arbitrary where masked, and the state; with visibility "both" none."""
        if self.config.visibility == "both":
            require(state is None, "state", "one", "none with visibility 'both', which reads whole records")
            return self.head(read_both(self.encoder, ids, mask, self.complement)), None
        hidden, after = self.encoder(ids, state, mask)
        return self.head(hidden), after


class VectorModel(nn.Module):
    """An encoder without a head."""

    labels: tuple[str, ...] = ()

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config, self.head_config = config, HeadConfig(task="embed", outputs=config.width)
        self.encoder = Encoder(config)
        self.head = nn.Identity()  # a hidden vector is the answer

    def forward(self, ids: Tensor, state: State | None = None, mask: Tensor | None = None) -> tuple[Tensor, State]:
        """ids (B, T) → hidden vectors (B, T, D), arbitrary where masked, and the state."""
        return self.encoder(ids, state, mask)


Model = LanguageModel | RecordModel | TokenModel | VectorModel


def build(
    config: ModelConfig,
    head: HeadConfig | None,
    labels: Sequence[str],
    tokenizer: object,
) -> Model:
    """A new model; without a head one that scores the next token. Of DNA, it knows the complement of each id.

    Raises:
        CheckpointError: another number of labels than the head has classes or numbers.
    """
    if head is None:
        return LanguageModel(config)
    if head.task == "embed":
        return VectorModel(config)
    if head.task != "masked" and len(labels) != head.outputs:
        raise CheckpointError(where="labels.json", expected=f"{head.outputs} names", found=str(len(labels)))
    if head.task not in OVER_TOKENS:
        return RecordModel(config, head, labels)
    complement = None
    if isinstance(tokenizer, DnaTokenizer):
        complement = torch.arange(config.vocabulary)  # ids above the tokenizer's stand for themselves
        complement[: tokenizer.vocabulary] = torch.from_numpy(tokenizer.complement(np.arange(tokenizer.vocabulary)))
    return TokenModel(config, head, labels, complement)
