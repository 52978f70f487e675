"""Bits per token along a record: what each token costs, given all that stands before it.

How a record is read depends on its own length alone, never on how its letters arrive or on what other records there
are: matrix products round by their shape, and equal shapes give every record the same bits.

| record | a call of the model reads |
|---|---|
| up to 64 tokens | chunk / 64 records side by side, at most 32, 64 tokens of each |
| up to 8,192 tokens | chunk / 256 records side by side, at most 8, 256 tokens of each |
| longer | chunk tokens of this record |

Lanes do not grow with a chunk of more than 2,048 tokens: empty ones are read as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import torch

from longseq.config import LONGEST_CHUNK, require
from longseq.errors import UsageError
from longseq.model import Checkpoint, Encoder, State
from longseq.model.state import map_tensors, named_tensors
from longseq.streaming.reader import SurprisalReader
from longseq.streaming.snapshot import Snapshot
from longseq.streaming.tracks import Track, tracks
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import DnaSubwords

K = TypeVar("K")
Take = Callable[[np.ndarray, torch.Tensor], None]

CHUNK = 2048
"""Tokens a recurrent call: small enough for the processor's caches, large enough to keep it busy."""
SHORT, SHORT_WIDTH = 64, 64
"""Records of up to so many tokens are read side by side in one call, so many tokens of each."""
MIDDLE, MIDDLE_WIDTH = 8192, 256
"""Records of up to so many tokens are read side by side in several calls, so many tokens of each."""
NAMED = 4
"""Ids below are A, C, G, T; what is not one of them is not scored."""


class Lanes(NamedTuple):
    """The shape in which records are read side by side."""

    number: int
    width: int


class Surprisal:
    """Readers that share one model: of one record or strand (call it), or of many side by side (`many`)."""

    def __init__(self, checkpoint: Checkpoint, *, chunk: int = CHUNK, precision: str = "fp32"):
        """`chunk` is tokens a call, up to `LONGEST_CHUNK`; `precision` fp32 or bf16 (memories and gates stay fp32).

        Raises:
            UsageError: a chunk or precision that cannot be; a model of text, or of DNA in words.
            CheckpointError: a model of something else than the next base.
        """
        require(1 <= chunk <= LONGEST_CHUNK, "chunk", chunk, f"1 to {LONGEST_CHUNK:,} tokens")
        require(precision in ("fp32", "bf16"), "precision", precision, "'fp32' or 'bf16'")
        if not isinstance(checkpoint.tokenizer, DnaTokenizer):
            words = isinstance(checkpoint.tokenizer, DnaSubwords)
            found = "a model of DNA in words" if words else "a model of text"
            raise UsageError(
                where=checkpoint.name, expected="a model of letters of DNA", found=found, remedy="use --model dna"
            )
        self.checkpoint, self.chunk, self.precision = checkpoint, chunk, precision
        self._model = checkpoint.language_model()
        self.tokenizer = checkpoint.tokenizer
        self.device = next(checkpoint.model.parameters()).device

    def __call__(self, start: Snapshot | None = None) -> SurprisalReader:
        """A reader at the start of a record, or where `start` was taken."""
        return SurprisalReader(self, start)

    def many(
        self,
        records: Iterable[tuple[K, Iterable[bytes]]],
        start: Snapshot | None = None,
        watch: Callable[[K], Take] | None = None,
    ) -> Iterator[tuple[K, Track]]:
        """Tracks of many records, in input order, some of them late by a bounded number of records.

        Records are walked in a thread, ahead of the model; a long one passes in constant memory, so exhaust each track
        before asking for the next. An InputError in a record comes out of its track and the others go on.

        Args:
            records: A key of the caller's choice, and letters in any pieces.
            start: Where the first record goes on from; its letters are those that come after.
            watch: Of a record's key, what takes its ids (t,) and their hidden vectors (t, D) behind the last norm, on
                the model's device, in order, as they pass; before its track has ended, each token is taken once.
        """
        return tracks(self, records, start, watch)

    def step(self, ids: np.ndarray, state: State | None) -> tuple[np.ndarray, State, torch.Tensor]:
        """Bits (B, T) float32 of T more tokens (B, T) uint8 of B records, the state after them, and hidden (B, T, D).

        Bits are NaN where a base is not A, C, G or T.
        """
        tokens = torch.from_numpy(ids.astype(np.int64)).to(self.device)
        bf16 = self.precision == "bf16"
        with torch.inference_mode(), torch.autocast(self.device.type, torch.bfloat16, enabled=bf16):
            with even_shares(len(ids)):
                hidden, after = self._model.encoder(tokens, state)
                logits = self._model.head(hidden, state)
                nats = torch.nn.functional.cross_entropy(
                    logits.float().flatten(0, 1), tokens.flatten(), reduction="none"
                )
        bits = (nats / math.log(2)).cpu().numpy().reshape(ids.shape)
        bits[ids >= NAMED] = np.nan
        return bits, after, hidden

    def lanes(self, length: int) -> Lanes | None:
        """In which shape a record of `length` tokens is read side by side with others; None: alone."""
        if length > self.side_by_side:
            return None
        width = min(SHORT_WIDTH if length <= SHORT else MIDDLE_WIDTH, self.chunk)
        return Lanes(min(self.chunk, CHUNK) // width, width)

    @cached_property
    def side_by_side(self) -> int:
        """Tokens of the longest record that is read side by side with others; 0 where the model cannot."""
        return 0 if grows(self._model.encoder) else MIDDLE

    @cached_property
    def empty(self) -> State:
        """The state (1, …) of a record of which nothing was read."""
        none = torch.zeros(1, 1, dtype=torch.long, device=self.device)
        bf16 = self.precision == "bf16"
        with torch.inference_mode(), torch.autocast(self.device.type, torch.bfloat16, enabled=bf16):
            state: State = self._model.encoder(none, None, none.bool())[1]
        return state

    def side(self, count: int, before: State | None, fresh: np.ndarray) -> State:
        """The state of `count` lanes where those of `fresh` (count,) bool begin a record, all of one memory layout."""
        if before is None or fresh.all():
            return map_tensors(self.empty, lambda x: x.expand(count, *x.shape[1:]).contiguous())
        if not fresh.any():
            return map_tensors(before, torch.Tensor.contiguous)
        chosen = torch.from_numpy(fresh).to(self.device)

        def merge(empty: torch.Tensor, old: torch.Tensor) -> torch.Tensor:
            return torch.where(chosen.view(-1, *[1] * (old.dim() - 1)), empty, old).contiguous()

        return _zip_tensors(self.empty, before, merge)


def _zip_tensors(one: State, other: State, join: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> State:
    partners = iter([tensor for _, tensor in named_tensors(other)])
    return map_tensors(one, lambda tensor: join(tensor, next(partners)))


def grows(encoder: Encoder) -> bool:
    """Whether its state has an axis of time, as that of softmax attention: records of one age only go together."""
    with torch.inference_mode():
        tokens = torch.zeros(1, 2, dtype=torch.long, device=encoder.embedding.weight.device)
        states = [encoder(tokens[:, :length])[1] for length in (1, 2)]
    one, two = ([tensor.shape for _, tensor in named_tensors(state)] for state in states)
    return one != two


@contextmanager
def even_shares(lanes: int) -> Iterator[None]:
    """At most two threads where lanes share a call.

    Three threads cut an array at places that are no multiple of a vector register; the elements beside the cut are
    computed one by one and rounded otherwise, and then a result depends on its lane.
    """
    threads = torch.get_num_threads()
    if lanes == 1 or threads <= 2:
        yield
        return
    torch.set_num_threads(2)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
