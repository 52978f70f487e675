"""Bits per token along a record: what each token costs, given all that stands before it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch

from longseq.config import require
from longseq.errors import UsageError
from longseq.model import Checkpoint, State
from longseq.streaming.snapshot import Snapshot
from longseq.tokens import DnaTokenizer

CHUNK = 2048
"""Tokens a recurrent call: small enough for the processor's caches, large enough to keep it busy."""


class Surprisal:
    """A factory of readers, one a record or strand, that share one model.

    The chunk grid starts at the record's first base, so a reading does not depend on how letters were handed over.
    """

    def __init__(self, checkpoint: Checkpoint, *, chunk: int = CHUNK, precision: str = "fp32"):
        """`chunk` is tokens a call; `precision` fp32 or bf16 (memories and gates stay float32)."""
        require(chunk >= 1, "chunk", chunk, ">= 1 token")
        require(precision in ("fp32", "bf16"), "precision", precision, "'fp32' or 'bf16'")
        if not isinstance(checkpoint.tokenizer, DnaTokenizer):
            raise UsageError(
                where=checkpoint.name, expected="a DNA model", found="a model of text", remedy="use --model dna"
            )
        self.checkpoint, self.chunk, self.precision = checkpoint, chunk, precision
        self.tokenizer = checkpoint.tokenizer
        self.device = next(checkpoint.model.parameters()).device

    def __call__(self, start: Snapshot | None = None) -> SurprisalReader:
        """A reader at the start of a record, or where `start` was taken."""
        return SurprisalReader(self, start)


class SurprisalReader:
    """One record, from front to back."""

    def __init__(self, surprisal: Surprisal, start: Snapshot | None = None):
        self._surprisal = surprisal
        self.state: State | None = None if start is None else start.state
        self.position = 0 if start is None else start.position
        """Bases that have passed through the model."""
        self._waiting = bytearray(b"" if start is None else start.carry)

    def push(self, letters: bytes) -> np.ndarray:
        """float32 bits of each base that is ready, in order; NaN where a base is not A, C, G or T.

        Values lag behind letters by less than a chunk; `finish` gives the rest.
        """
        self._waiting += letters
        return self._concatenate(self._whole_chunks())

    def finish(self) -> np.ndarray:
        """The values not given yet: as many as letters were pushed, in all."""
        rest = [self._read(bytes(self._waiting))] if self._waiting else []
        self._waiting.clear()
        return self._concatenate(iter(rest))

    def snapshot(self) -> Snapshot:
        """All that a later reader needs to go on from here."""
        if self.state is None:
            raise UsageError("nothing was read yet", remedy="push at least one chunk before taking a snapshot")
        return Snapshot(
            state=self.state,
            model_sha256=self._surprisal.checkpoint.sha256,
            position=self.position,
            carry=bytes(self._waiting),
        )

    def _whole_chunks(self) -> Iterator[np.ndarray]:
        size, taken = self._surprisal.chunk, 0
        while len(self._waiting) - taken >= size:
            yield self._read(bytes(self._waiting[taken : taken + size]))
            taken += size
        del self._waiting[:taken]

    def _read(self, letters: bytes) -> np.ndarray:
        surprisal = self._surprisal
        ids, _ = surprisal.tokenizer.encode(letters)
        tokens = torch.from_numpy(ids.astype(np.int64)).to(surprisal.device)[None]
        bf16 = surprisal.precision == "bf16"
        with torch.inference_mode(), torch.autocast(surprisal.device.type, torch.bfloat16, enabled=bf16):
            logits, self.state = surprisal.checkpoint.model(tokens, self.state)
            nats = torch.nn.functional.cross_entropy(logits[0].float(), tokens[0], reduction="none")
        self.position += len(letters)
        bits = (nats / math.log(2)).cpu().numpy()
        bits[ids > 3] = np.nan  # ids 0-3 are A, C, G, T
        return bits

    @staticmethod
    def _concatenate(parts: Iterator[np.ndarray]) -> np.ndarray:
        arrays = list(parts)
        return np.concatenate(arrays) if arrays else np.zeros(0, np.float32)
