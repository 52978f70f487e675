"""Models that answer something else than the next token: an encoder and a head over records, or over tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from longseq.config import require
from longseq.errors import CheckpointError
from longseq.model.both import read_both
from longseq.model.config import ModelConfig
from longseq.model.encoder import Encoder
from longseq.model.head_config import OVER_TOKENS, HeadConfig
from longseq.model.heads import Classifier, Pool
from longseq.model.language import LanguageModel
from longseq.model.state import State
from longseq.tokens import DnaTokenizer


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
