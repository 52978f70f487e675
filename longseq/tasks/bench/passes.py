"""Passes of one model over one length, as they are timed."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import torch
from torch import nn

from longseq.errors import UsageError
from longseq.model import LanguageModel, ModelConfig
from longseq.ops.machine import prepare
from longseq.tasks.bench.memory import MemoryMeter
from longseq.tasks.bench.references import encoder, reads_whole

FIRST_CALL = 64
"""Tokens of a first call, which loads what torch loads when it is needed."""
PROBE = 2048
"""Tokens from which the time of a longer pass is told in advance."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is measured."""

    name: str
    """A mixer or a reference."""
    model: ModelConfig
    length: int
    train: bool
    chunk: int
    precision: str
    device: str
    shortest: float
    """Seconds that are timed at least: a short pass is repeated, and the mean is taken."""


def usable(name: str) -> torch.device:
    """The device called `name`.

    Raises:
        UsageError: there is no such device.
    """
    try:
        return torch.empty(1, device=name).device
    except (RuntimeError, AssertionError) as error:
        found = str(error).splitlines()[0]
        raise UsageError(where="--device", expected=f"a usable device {name!r}", found=found) from None


class Passes:
    """A model and the tokens it reads, random ones, batch 1."""

    def __init__(self, job: Job):
        """Raises UsageError: no such device."""
        self._job = job
        self._device = usable(job.device)
        self._model: nn.Module = encoder(job.name, job.model, job.length)
        embedding = self._model.embedding.weight.numel()  # type: ignore[union-attr, operator]
        self.parameters = sum(p.numel() for p in self._model.parameters()) - embedding
        self._whole = job.train or reads_whole(job.name)
        if job.train:
            language = LanguageModel(job.model)
            language.encoder = self._model  # type: ignore[assignment]
            self._model = language
        self._model.train(job.train).to(self._device)
        made = torch.Generator().manual_seed(0)
        letters = min(4, job.model.vocabulary)
        self._ids = torch.randint(letters, (1, job.length), generator=made).to(self._device)
        prepare(1)
        self._pass(min(FIRST_CALL, job.length))
        self._meter = MemoryMeter(self._device)
        self._inner = 1

    def facts(self) -> dict:
        return {"parameters": self.parameters, "chunk": None if self._whole else self._job.chunk}

    def estimate(self, threads: int) -> float:
        """Seconds that one pass takes, from a shorter one and the arithmetic of both."""
        torch.set_num_threads(threads)
        size = min(PROBE, self._job.length)
        self._pass(size)
        seconds = self._pass(size) * self._work(self._job.length) / self._work(size)
        self._inner = max(1, math.ceil(self._job.shortest / seconds))
        return seconds

    def run(self, threads: int) -> float:
        """Seconds of one pass; of the mean of several where one is short."""
        torch.set_num_threads(threads)
        return sum(self._pass(self._job.length) for _ in range(self._inner)) / self._inner

    def peak_mb(self) -> float | None:
        return self._meter.peak_mb()

    def _work(self, length: int) -> float:
        """FLOPs of a pass, up to a factor: every parameter once a token, and softmax attention."""
        pairs = length**2 if reads_whole(self._job.name) else 0
        return length * self.parameters + 2 * pairs * self._job.model.width * self._job.model.layers

    def _pass(self, length: int) -> float:
        self._wait()
        began = time.perf_counter()
        if self._job.train:
            self._step(self._ids[:, :length])
        else:
            self._read(self._ids[:, :length])
        self._wait()
        return time.perf_counter() - began

    def _read(self, ids: torch.Tensor) -> None:
        state = None
        for chunk in ids.split(ids.shape[1] if self._whole else self._job.chunk, 1):
            with torch.inference_mode(), self._autocast():
                _, state = self._model(chunk, state)

    def _step(self, ids: torch.Tensor) -> None:
        with self._autocast():
            loss, count, _ = self._model.loss(ids)  # type: ignore[operator]
        (loss / count).backward()
        self._model.zero_grad(set_to_none=True)

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self._device.type, torch.bfloat16, enabled=self._job.precision == "bf16")

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
