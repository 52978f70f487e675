"""What a comparison asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from longseq.config import require, require_one
from longseq.model.mixers import MIXERS
from longseq.results.compare import ADDITION, BASES

TASKS = (ADDITION, BASES)
QUICK: dict[str, Any] = {
    "addition.digits": 2,
    "addition.pairs": 10_000,
    "addition.steps": 600,
    "bases.steps": 120,
    "reach.examples": 8,
    "lengths": [64, 256, 1024, 4096],
}
"""Settings with which all six models are through in three minutes on two cores."""


@dataclass(frozen=True, kw_only=True)
class AdditionConfig:
    """Sums, digit by digit: `07+35` to `042`, told from the units on, `240`."""

    digits: int = 3
    """Of each summand."""
    pairs: int = 50_000
    """Pairs at most; all there are where these are fewer, else so many drawn at random."""
    held_out: float = 0.1
    """Share of the pairs never learned from."""
    batch: int = 64
    """Pairs a step."""
    rate: float = 4e-3
    """Highest learning rate."""
    steps: int = 0
    """The same for all models; 0: as many as the time allows for."""
    evaluations: int = 12
    """Points of a curve."""
    scored: int = 500
    """Held-out pairs that an evaluation reads, at most."""

    def __post_init__(self):
        require(1 <= self.digits <= 9, "addition.digits", self.digits, "1 to 9")
        require(self.pairs >= 10, "addition.pairs", self.pairs, ">= 10")
        require(0 < self.held_out < 1, "addition.held_out", self.held_out, "a share, above 0 and below 1")
        require(self.batch >= 1, "addition.batch", self.batch, ">= 1 pair")
        require(self.scored >= 1, "addition.scored", self.scored, ">= 1 pair")
        _check("addition", self)


@dataclass(frozen=True, kw_only=True)
class BasesConfig:
    """The next base of a genome."""

    window: int = 512
    """Bases of a training window."""
    held_out: float = 0.1
    """Share of the bases never learned from: the end of each record, or whole records."""
    batch: int = 4
    """Windows a step."""
    rate: float = 4e-3
    """Highest learning rate."""
    steps: int = 0
    """The same for all models; 0: as many as the time allows for."""
    evaluations: int = 12
    """Points of a curve."""
    scored: int = 8192
    """Held-out bases that an evaluation reads, at most."""

    def __post_init__(self):
        require(self.window >= 2, "bases.window", self.window, ">= 2 bases")
        require(0 < self.held_out < 1, "bases.held_out", self.held_out, "a share, above 0 and below 1")
        require(self.batch >= 1, "bases.batch", self.batch, ">= 1 window")
        require(self.scored >= self.window, "bases.scored", self.scored, f">= bases.window ({self.window})")
        _check("bases", self)


def _check(name: str, config: AdditionConfig | BasesConfig) -> None:
    require(config.rate > 0, f"{name}.rate", config.rate, "> 0")
    require(config.steps >= 0, f"{name}.steps", config.steps, ">= 0")
    require(config.evaluations >= 1, f"{name}.evaluations", config.evaluations, ">= 1")


@dataclass(frozen=True, kw_only=True)
class ReachConfig:
    """How far back gradients are followed."""

    farthest: int = 512
    """Tokens."""
    examples: int = 16
    """Sequences over which norms are averaged."""

    def __post_init__(self):
        require(self.farthest >= 2, "reach.farthest", self.farthest, ">= 2 tokens")
        require(self.examples >= 1, "reach.examples", self.examples, ">= 1")

    @property
    def distances(self) -> tuple[int, ...]:
        """1, 2, 3, 4, 6, 8, 12 …: powers of two and what lies half-way, up to the farthest."""
        powers = [2**n for n in range(self.farthest.bit_length())]
        found = {*powers, *(3 * power // 2 for power in powers if power > 1), self.farthest}
        return tuple(sorted(d for d in found if d <= self.farthest))


@dataclass(frozen=True, kw_only=True)
class CompareConfig:
    models: tuple[str, ...] = ("rnn", "lstm", "gru", "softmax", "linear", "gated")
    """Mixers, one a model."""
    tasks: tuple[str, ...] = TASKS
    """What they learn."""
    inputs: tuple[str, ...] = ()
    """Sequence files whose bases are foretold."""
    minutes: float = 20.0
    """Wall time for all of it, about, where a task does not say its steps."""
    width: int = 64
    """Channels of a hidden vector, in all models."""
    layers: int = 2
    """Of all models."""
    heads: int = 4
    """Attention heads of a layer, where there are such."""
    seed: int = 0
    """Of weights, of the order of what is learned and of what is held out."""
    jobs: int = 0
    """Models that learn side by side, one thread each; 0: as many as there are cores."""
    lengths: tuple[int, ...] = (64, 256, 1024, 4096, 16384)
    """Tokens at which memory and time are measured."""
    addition: AdditionConfig = field(default_factory=AdditionConfig)
    bases: BasesConfig = field(default_factory=BasesConfig)
    reach: ReachConfig = field(default_factory=ReachConfig)

    def __post_init__(self):
        for name, known in (("models", tuple(MIXERS)), ("tasks", TASKS)):
            given = getattr(self, name)
            require(bool(given), name, given, "at least one")
            for one in given:
                require_one(name, one, known)
            require(len(set(given)) == len(given), name, given, "each only once")
        require(0 < self.minutes < math.inf, "minutes", self.minutes, "above 0 and finite")
        for name in ("width", "layers", "heads"):
            require(getattr(self, name) >= 1, name, getattr(self, name), ">= 1")
        require(self.width % self.heads == 0, "width", self.width, f"a multiple of heads ({self.heads})")
        require(self.seed >= 0, "seed", self.seed, ">= 0")
        require(self.jobs >= 0, "jobs", self.jobs, ">= 0")
        require(bool(self.lengths), "lengths", self.lengths, "at least one")
        require(all(n >= 2 for n in self.lengths), "lengths", self.lengths, ">= 2 tokens")

    def task(self, name: str) -> AdditionConfig | BasesConfig:
        return self.addition if name == ADDITION else self.bases
