"""A conversation: turns that are read as they come, each of them once, and what all of them have left behind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from longseq.errors import CheckpointError, StateError
from longseq.model import Checkpoint, State
from longseq.model.state import next_segment
from longseq.streaming.hidden import HiddenReader
from longseq.streaming.snapshot import AGAIN, Snapshot, require_model, require_same
from longseq.tokens.stream import StreamTokenizer

TOTAL, VECTORS = "conversation.total", "conversation.vectors"
"""Names of the accumulators of a snapshot: the sum (D,) float64 of all hidden vectors, and the vectors (N, D) float32
of the turns."""


class Turn(NamedTuple):
    """What was read of one turn."""

    number: int
    """In the conversation, from 0."""
    tokens: int
    """Special tokens included."""
    vector: np.ndarray
    """(D,) float32, the mean of the hidden vectors of its tokens; NaN where it has none."""


class Near(NamedTuple):
    """An earlier turn that is like one."""

    number: int
    similarity: float
    """Cosine of the vectors."""


class Conversation:
    """Reads turns one after another. Each sees what the state keeps of those before it, and none is read again.

    With visibility "segment" a turn begins a segment of its own, as long as it may be. Then vectors are those that one
    reading of all turns has in which segments end where turns do. Kept are a state and a vector a turn.
    """

    def __init__(self, checkpoint: Checkpoint, start: Snapshot | None = None, *, precision: str = "fp32"):
        """`start` is what `snapshot` gave: the conversation goes on there. `precision` is fp32 or bf16.

        Raises:
            CheckpointError: a model of DNA, or of visibility "both", which reads backwards from the end, or with
                softmax mixers that see earlier segments, which have to be whole.
            StateError: `start` is of another model, of something else than a conversation, or of another precision.
        """
        tokenizer, config = checkpoint.tokenizer, checkpoint.config
        if not isinstance(tokenizer, StreamTokenizer):
            raise CheckpointError(where=checkpoint.name, expected="a model of documents", found="one of DNA")
        if config.visibility == "both":
            raise CheckpointError(
                where=checkpoint.name,
                expected='visibility "causal" or "segment" to go on with a conversation',
                found='"both", which reads backwards from the end',
            )
        if config.visibility == "segment" and config.across and "softmax" in config.pattern:
            raise CheckpointError(
                where=checkpoint.name,
                expected="linear mixers, or softmax mixers that read each segment by itself",
                found="softmax mixers that see earlier segments, and count on whole ones",
            )
        self._tokenizer, self._reader = tokenizer, HiddenReader(checkpoint, precision=precision)
        self._segment = config.segment if config.visibility == "segment" else 0
        self.turns = self.tokens = 0
        """Of the conversation so far."""
        self._state: State | None = None
        self._total = np.zeros(config.width)
        self._vectors = np.zeros((16, config.width), np.float32)
        if start is not None:
            self._go_on(start)

    @property
    def vectors(self) -> np.ndarray:
        """(N, D) float32, those of the turns so far."""
        return self._vectors[: self.turns]

    @property
    def vector(self) -> np.ndarray:
        """(D,) float32, the mean of the hidden vectors of all tokens so far; NaN before the first."""
        return _mean(self._total, self.tokens)

    def add(self, text: str) -> Turn:
        """Read the next turn."""
        state, total, tokens = self._state, np.zeros_like(self._total), 0
        if state is not None and self._segment:
            state = next_segment(state, self._segment)
        for chunk in self._tokenizer.chunks(iter([text]), self._reader.chunk):
            if len(chunk):
                hidden, state = self._reader.step(chunk.ids[None], state)
                total += hidden[0].double().sum(0).cpu().numpy()
                tokens += len(chunk)
        turn = Turn(self.turns, tokens, _mean(total, tokens))
        if self.turns == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self._vectors[self.turns] = turn.vector
        self.turns, self.tokens = self.turns + 1, self.tokens + tokens
        self._state, self._total = state, self._total + total
        return turn

    def nearest(self, number: int, count: int = 3) -> list[Near]:
        """Up to `count` turns before turn `number` whose vectors are most like its own, the most alike first."""
        earlier, own = self.vectors[:number].astype(np.float64), self.vectors[number].astype(np.float64)
        lengths = np.linalg.norm(earlier, axis=1) * np.linalg.norm(own)
        cosines = earlier @ own / np.maximum(lengths, np.finfo(np.float64).tiny)
        order = np.argsort(-cosines, kind="stable")  # NaN, of turns without a token, at the end
        return [Near(int(i), float(cosines[i])) for i in order[:count] if not np.isnan(cosines[i])]

    def snapshot(self) -> Snapshot:
        """All that goes on with the conversation needs, for `longseq.streaming.save_snapshot`."""
        return Snapshot(
            state=self._state,
            model_sha256=self._reader.checkpoint.sha256,
            position=self.tokens,
            accumulators={
                TOTAL: torch.from_numpy(self._total.copy()),
                VECTORS: torch.from_numpy(self.vectors.copy()),
            },
            chunk=self._reader.chunk,
            precision=self._reader.precision,
        )

    def _go_on(self, start: Snapshot) -> None:
        require_model(start.model_sha256, self._reader.checkpoint, "the saved state")
        require_same(start, self._reader.chunk, self._reader.precision)
        if not {TOTAL, VECTORS} <= set(start.accumulators):
            raise StateError(
                where="the saved state", expected="a conversation", found="the state of another reading", remedy=AGAIN
            )
        self._state, self.tokens = start.state, start.position
        self._total = start.accumulators[TOTAL].cpu().numpy().copy()
        self._vectors = start.accumulators[VECTORS].cpu().numpy().copy()
        self.turns = len(self._vectors)
        if not self.turns:
            self._vectors = np.zeros((16, len(self._total)), np.float32)


def _mean(total: np.ndarray, tokens: int) -> np.ndarray:
    return (total / tokens if tokens else np.full_like(total, np.nan)).astype(np.float32)
