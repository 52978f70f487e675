"""Class probabilities of every base of a record of any length, from both strands, in constant memory and no seams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from longseq.config import LONGEST_CHUNK, require
from longseq.errors import CheckpointError, UsageError
from longseq.model import Checkpoint, LanguageModel, State, TokenModel
from longseq.records import opposite_class
from longseq.streaming.rows import RowSpool
from longseq.streaming.surprisal import CHUNK
from longseq.tokens import DnaTokenizer


class Classified(NamedTuple):
    """Consecutive bases of a record."""

    ids: np.ndarray
    """(T,) uint8."""
    probabilities: np.ndarray
    """(T, C) float32, of each base over the classes."""


class ClassReader:
    """Reads a record and its reverse complement with one model, and averages what it says of each base.

    The pass over the reverse complement comes first, from the record's end on, and leaves its scores on disk; the pass
    forwards picks them up. Each pass has a chunk grid of its own, from where it starts: a record and its reverse
    complement mirror each other to the bit, with `name+` and `name-` swapped. With visibility "both" the same two
    passes give both readings, since the second one of the reverse complement is the first one of the record.

    Memory in use: a piece, a chunk and a state. Disk: a byte and C numbers a base, 2 C with visibility "both".
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        chunk: int | None = None,
        precision: str = "fp32",
        folder: str | Path | None = None,
    ):
        """`chunk` is bases a call, of segments a multiple; None: about `CHUNK`. `folder` is that of the spools; None:
        where TMPDIR points.

        Raises:
            UsageError: a chunk or precision that cannot be; a model of something else than letters of DNA.
            CheckpointError: a model that does not classify each token.
        """
        model, name = checkpoint.model, checkpoint.name
        if not isinstance(model, TokenModel) or model.head_config.task != "annotate":
            found = "score the next token" if isinstance(model, LanguageModel) else model.head_config.answers
            raise CheckpointError(
                where=name,
                expected="a model to classify each base",
                found=f"a model to {found}",
                remedy="longseq train --task annotate makes one",
            )
        if not isinstance(checkpoint.tokenizer, DnaTokenizer):
            raise UsageError(where=name, expected="a model of letters of DNA", found="a model of other tokens")
        segment = model.config.segment if model.config.visibility == "segment" else 1
        chunk = -(-CHUNK // segment) * segment if chunk is None else chunk
        require(1 <= chunk <= LONGEST_CHUNK, "chunk", chunk, f"1 to {LONGEST_CHUNK:,} bases")
        require(chunk % segment == 0, "chunk", chunk, f"a multiple of model.segment ({segment})")
        require(precision in ("fp32", "bf16"), "precision", precision, "'fp32' or 'bf16'")
        self.checkpoint, self.chunk, self.precision = checkpoint, chunk, precision
        self.tokenizer = checkpoint.tokenizer
        self.labels: tuple[str, ...] = model.labels
        """C classes; the first is the background."""
        self._encoder, self._folder = model.encoder, folder
        self._both = model.config.visibility == "both"
        place = {label: i for i, label in enumerate(self.labels)}
        others = [place.get(opposite_class(label), i) for i, label in enumerate(self.labels)]
        self._opposite = torch.tensor(others, device=model.head.weight.device)
        weight = model.head.weight.detach().float()
        # With visibility "both" the head reads (forwards, backwards): of each pass, scores in either place.
        self._weight = torch.cat(weight.chunk(2, 1)) if self._both else weight
        self._bias = model.head.bias.detach().float()

    def __call__(self, pieces: Iterable[bytes]) -> Iterator[Classified]:
        """Letters of one record in any pieces → its bases in order, `chunk` at a time but for the last.

        Raises:
            AlphabetError: a byte outside the alphabet, before anything is given.
            LongseqError: the spool's folder takes no more.
        """
        with (
            RowSpool(1, np.uint8, self._folder) as ids,
            RowSpool(len(self._weight), np.float32, self._folder) as behind,
        ):
            length = 0
            for piece in pieces:
                ids.write(length, self.tokenizer.encode(piece, length)[0][:, None])
                length += len(piece)
            state: State | None = None
            for end in range(length, 0, -self.chunk):
                start = max(end - self.chunk, 0)
                reverse = self.tokenizer.complement(ids.read(start, end)[::-1, 0])
                scores, state = self._read(reverse, state)
                behind.write(start, scores.flip(0).cpu().numpy())
            state = None
            for start in range(0, length, self.chunk):
                end = min(start + self.chunk, length)
                found = ids.read(start, end)[:, 0]
                scores, state = self._read(found, state)
                other = torch.from_numpy(behind.read(start, end)).to(scores.device)
                yield Classified(found, self.joined(scores, other).cpu().numpy())

    def _read(self, ids: np.ndarray, state: State | None) -> tuple[Tensor, State]:
        """Ids (t,) of the next tokens of a strand → scores (t, C) or (t, 2 C) without bias, and the state."""
        tokens = torch.from_numpy(ids.astype(np.int64)).to(self._weight.device)[None]
        bf16 = self.precision == "bf16"
        with torch.inference_mode():
            with torch.autocast(tokens.device.type, torch.bfloat16, enabled=bf16):
                hidden, state = self._encoder(tokens, state)
            return self.scores(hidden[0]), state

    def scores(self, hidden: Tensor) -> Tensor:
        """(t, C) or (t, 2 C) without bias, of the hidden vectors (t, D) of one pass."""
        return hidden.float() @ self._weight.T

    def joined(self, forwards: Tensor, backwards: Tensor) -> Tensor:
        """(t, C) probabilities from the scores of the two passes at the same bases."""
        own, other = forwards, backwards
        if self._both:
            (one, two), (three, four) = forwards.chunk(2, 1), backwards.chunk(2, 1)
            own, other = one + four, three + two
        own, other = ((scores + self._bias).softmax(-1) for scores in (own, other))
        return (own + other[:, self._opposite]) / 2
