"""Two ways of reading, taken in turns, slice by slice: what core_speed.py compares of streams."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from longseq.formats import read
from longseq.model import Checkpoint, LanguageModel, ModelConfig
from longseq.streaming import Surprisal
from longseq.tokens import DnaTokenizer

SLICES = 20
"""Turns of each way."""
SHORT = 200
"""Letters of a short record."""


class Streams:
    """A DNA model with its first weights, and letters made by chance."""

    def __init__(self, model: ModelConfig):
        self._model = LanguageModel(model).eval()
        checkpoint = Checkpoint(
            name="first weights", path=Path(), model=self._model, tokenizer=DnaTokenizer(), labels=None, sha256=""
        )
        self._surprisal = Surprisal(checkpoint)
        self._random = np.random.default_rng(0)

    def long(self, letters: int, threads: int) -> tuple[float, float]:
        """Tokens/s of one record from a FASTA file through the stream, and of the model on ids in memory."""
        torch.set_num_threads(threads)
        text = self._letters(letters)
        ids = torch.from_numpy(DnaTokenizer().encode(text)[0].astype(np.int64))[None]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "long.fa"
            lines = [text[i : i + 60] for i in range(0, letters, 60)]
            file.write_bytes(b">long\n" + b"\n".join(lines) + b"\n")
            with read(str(file)) as reading:
                records = ((record.id, record.pieces) for record in reading)
                return in_turns(self._tracks(records), self._memory(ids), letters)

    def lanes(self, records: int, threads: int) -> tuple[float, float]:
        """Tokens/s of short records side by side, and of one record of as many letters."""
        torch.set_num_threads(threads)
        text = self._letters(records * SHORT)
        short = ((i, [text[i * SHORT : (i + 1) * SHORT]]) for i in range(records))
        return in_turns(self._tracks(short), self._tracks(iter([("long", [text])])), len(text))

    def _letters(self, length: int) -> bytes:
        return np.frombuffer(b"ACGT", np.uint8)[self._random.integers(4, size=length)].tobytes()

    def _tracks(self, records: Iterator) -> Iterator[int]:
        """Tokens of each piece that came through."""
        for _, track in self._surprisal.many(records):
            for scored in track:
                yield len(scored.bits)

    def _memory(self, ids: torch.Tensor) -> Iterator[int]:
        state = None
        for chunk in ids.split(self._surprisal.chunk, 1):
            with torch.inference_mode():
                _, state = self._model(chunk, state)
            yield chunk.shape[1]


def in_turns(one: Iterator[int], other: Iterator[int], tokens: int) -> tuple[float, float]:
    """Tokens/s of two ways to read `tokens` tokens, a slice of each in turn, so that a slow moment slows both."""
    ways, done, seconds = (one, other), [0, 0], [0.0, 0.0]
    for turn in range(1, SLICES + 1):
        for i, way in enumerate(ways):
            began = time.perf_counter()
            while done[i] < tokens * turn // SLICES:
                done[i] += next(way)
            seconds[i] += time.perf_counter() - began
    return tokens / seconds[0], tokens / seconds[1]
