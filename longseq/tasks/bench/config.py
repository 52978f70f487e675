"""What a benchmark measures."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from typing import Literal

from longseq.config import require, require_one
from longseq.model import ModelConfig
from longseq.model.mixers import MIXERS
from longseq.streaming.surprisal import CHUNK
from longseq.tasks.bench.references import BOUND, REFERENCES

LONGEST_STEP = 131_072
"""Tokens of the longest training window that is measured."""


@dataclass(frozen=True, kw_only=True)
class BenchConfig:
    model: ModelConfig = field(default_factory=ModelConfig)
    """Shape of every model measured; `model.pattern` is set by `mixers`."""
    mixers: tuple[str, ...] = ("linear", "gated", "softmax", "softmax-both", "gru")
    """Mixers, and references by name; the blocks without attention are always measured beside them."""
    lengths: tuple[int, ...] = (512, 4096, 16384, 65536, 1048576)
    """Tokens a pass; one that stands there twice is measured once."""
    train: bool = False
    """Whether training steps are timed too."""
    chunk: int = CHUNK
    """Tokens a recurrent call; softmax attention reads the whole length at once."""
    threads: tuple[int, ...] = (1,)
    """Thread counts that are tried; a row is of the fastest."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """Of matrix products; memories are float32."""
    device: str = "cpu"
    """cpu, cuda, cuda:1."""
    repeats: int = 5
    """Rounds at most; in each, every mixer passes once over the length, one after the other."""
    shortest: float = 0.2
    """Seconds that are timed at least: a short pass is repeated, and the mean is taken."""
    budget: float = 120.0
    """Seconds that all of it may take, about; what would take longer than its share is left out, and said."""

    def __post_init__(self):
        require(bool(self.mixers), "mixers", self.mixers, "at least one")
        for name in self.mixers:
            require_one("mixers", name, [*MIXERS, *REFERENCES])
            if name in MIXERS:
                replace(self.model, pattern=(name,))  # refuses a shape that this mixer cannot have
        visible = self.model.visibility
        require(visible != "both", "model.visibility", visible, "'causal' or 'segment': 'both' is two such passes")
        require(bool(self.lengths), "lengths", self.lengths, "at least one")
        for name in ("lengths", "threads"):
            require(all(n >= 1 for n in getattr(self, name)), name, getattr(self, name), ">= 1")
        require(bool(self.threads), "threads", self.threads, "at least one")
        require(self.chunk >= 1, "chunk", self.chunk, ">= 1 token")
        require(self.repeats >= 1, "repeats", self.repeats, ">= 1 round")
        require(0 <= self.shortest < math.inf, "shortest", self.shortest, ">= 0 seconds, and a finite number")
        require(0 < self.budget < math.inf, "budget", self.budget, "> 0 seconds, and a finite number")

    @property
    def contenders(self) -> tuple[str, ...]:
        """The blocks without attention, then the mixers asked for, each once."""
        return tuple(dict.fromkeys([BOUND, *self.mixers]))


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
