"""A record that goes on: what was read, and tokens drawn behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from longseq.config import LONGEST_CHUNK, require
from longseq.errors import AlphabetError, InputError, StateError
from longseq.model import Checkpoint, State
from longseq.streaming import Snapshot
from longseq.tasks.generate.sampling import Sampling
from longseq.tasks.generate.spelling import Spelling
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import DnaSubwords
from longseq.tokens.writable import writable

CHUNK = 2048
"""Tokens of a prompt read in a call."""


class Token(NamedTuple):
    """One token drawn."""

    id: int
    bits: float
    """-log2 of its probability among the tokens that may come, before temperature and cuts."""
    text: str
    """Letters that are whole with it; empty where a letter goes on in the next token."""


class Generator:
    """Reads a prompt, then draws tokens, one call of the model each; what it holds does not grow.

    Drawing n tokens and then m from the snapshot draws the same as n + m.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        sampling: Sampling | None = None,
        *,
        start: Snapshot | None = None,
        chunk: int = CHUNK,
        precision: str = "fp32",
        any_letter: bool = False,
    ):
        """
        Args:
            start: a saved state that goes on, as `longseq score --save-state` writes it for DNA, or `snapshot` here.
            chunk: tokens of a prompt a call.
            precision: fp32 or bf16; memories and gates are float32 in either.
            any_letter: of DNA, not only A, C, G and T.

        Raises:
            CheckpointError: no language model.
        """
        require(1 <= chunk <= LONGEST_CHUNK, "chunk", chunk, f"1 to {LONGEST_CHUNK:,} tokens")
        require(precision in ("fp32", "bf16"), "precision", precision, "'fp32' or 'bf16'")
        self._checkpoint, self._model = checkpoint, checkpoint.language_model()
        self.sampling = sampling or Sampling()
        self._chunk, self._precision = chunk, precision
        self._device = next(self._model.parameters()).device
        tokenizer: Any = checkpoint.tokenizer
        self._tokenizer = tokenizer
        self._allowed = writable(tokenizer, self._model.config.vocabulary, any_letter=any_letter)
        self.dna = isinstance(tokenizer, DnaTokenizer | DnaSubwords)
        self.end: int | None = None if self.dna else tokenizer.end
        """Id that ends a document."""
        self.separator: int | None = None if self.dna else tokenizer.separator
        """Id between a source and its target, of a model that learned from pairs."""
        self.ended = False
        """Whether it was drawn."""
        self._state: State | None = None
        self.seen = 0
        """Tokens read and drawn."""
        self._spelling = Spelling(tokenizer)
        if start is not None:
            self._take_up(start)

    def read(self, pieces: Iterable[str] | Iterable[bytes]) -> int:
        """Read a prompt that comes in any pieces; its number of tokens.

        A text prompt is cut into tokens by itself: what stood before it is not looked at again.

        Raises:
            AlphabetError: a letter of DNA outside the alphabet.
        """
        before = self.seen
        try:
            for chunk in self._tokenizer.chunks(iter(pieces), self._chunk):
                self._feed(chunk.ids)
                if len(chunk):  # a decoder may look at the token before; it is spelled already
                    self._spelling = Spelling(self._tokenizer, ([int(chunk.ids[-1])], 1))
        except AlphabetError as error:
            error.where = error.where or "prompt"  # of a file, its reader has said where
            raise
        return self.seen - before

    def ask(self, source: str | Iterable[str]) -> int:
        """Read a whole source, in any pieces, and the separator behind it; its number of tokens, separator included.

        Raises:
            InputError: a letter or word that the model never saw.
        """
        before = self.seen
        pieces = [source] if isinstance(source, str) else source
        for chunk in self._tokenizer.chunks(iter(pieces), self._chunk):
            for place in np.flatnonzero(chunk.ids == self._tokenizer.unknown).tolist():
                first, last = chunk.offsets[place]
                found = repr(source[first:last]) if isinstance(source, str) else f"something else at {first}-{last}"
                raise InputError(where="prompt", expected="what the model has learned", found=found)
            self._feed(chunk.ids)
        self._feed(np.array([self.separator]))
        return self.seen - before

    def scores(self) -> np.ndarray:
        """(V,) float32 scores of the next token, -inf where it may not come."""
        with self._computing():
            nothing = self._model.head.start.new_zeros(1, 1, self._model.config.width)
            scores = self._model.head(nothing, self._state)[0, 0].float().cpu().numpy()
        return np.where(self._allowed, scores, -np.inf)

    def tokens(self, length: int, *, stop_at_end: bool = True) -> Iterator[Token]:
        """Draw `length` tokens, fewer where a document ends."""
        for _ in range(length):
            scores = self.scores()
            token = self.sampling.draw(self.sampling.probabilities(scores), self.seen)
            self._feed(np.array([token]))
            bits = (_log_sum_exp(scores) - float(scores[token])) / math.log(2)
            self.ended = token == self.end
            yield Token(token, bits, self._spelling.rest() if self.ended else self._spelling.push(token))
            if self.ended and stop_at_end:
                return

    def rest(self) -> str:
        """Letters that are not whole, as far as they are spelled; for an end that nothing follows."""
        return self._spelling.rest()

    def snapshot(self) -> Snapshot:
        """All that a later generator, or for DNA in letters a later reading, needs to go on from here."""
        ids, written = self._spelling.pending
        accumulators = {} if self.dna else {"generate.ids": torch.tensor([written, *ids], dtype=torch.int64)}
        return Snapshot(
            state=self._state,
            model_sha256=self._checkpoint.sha256,
            position=self.seen,
            given=self.seen,
            accumulators=accumulators,
        )

    def _take_up(self, start: Snapshot) -> None:
        if start.carry and not isinstance(self._tokenizer, DnaTokenizer):
            raise StateError(expected="a state without letters that wait", found=f"{len(start.carry)} of them")
        self._state, self.seen = start.state, start.position
        if start.carry:
            self.read([start.carry])
        if (kept := start.accumulators.get("generate.ids")) is not None:
            written, *ids = kept.tolist()
            self._spelling = Spelling(self._tokenizer, (ids, written))

    def _feed(self, ids: np.ndarray) -> None:
        """ids (T,) behind all that was read."""
        if not len(ids):
            return
        with self._computing():
            tokens = torch.from_numpy(ids.astype(np.int64)).to(self._device)[None]
            _, self._state = self._model.encoder(tokens, self._state)
        self.seen += len(ids)

    @contextmanager
    def _computing(self) -> Iterator[None]:
        bf16 = self._precision == "bf16"
        with torch.inference_mode(), torch.autocast(self._device.type, torch.bfloat16, enabled=bf16):
            yield


def _log_sum_exp(scores: np.ndarray) -> float:
    top = float(scores.max())
    return top + math.log(float(np.exp((scores - top).astype(np.float64)).sum()))
