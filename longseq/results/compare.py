"""What a comparison of models found: how they learned, how far their gradients reach, what they cost."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from longseq.results.run import Run

COMPARE_SCHEMA = "longseq.compare/1"
ADDITION, BASES = "addition", "bases"


@dataclass(frozen=True, kw_only=True)
class Point:
    """One evaluation on what is held out."""

    step: int
    tokens: int
    """Learned from so far."""
    seconds: float
    """Spent on steps so far, evaluations not counted."""
    bits: float
    """A token of the sum, or a base."""
    right: float
    """Share of sums told exactly, or of bases that were the likeliest."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Gradient of the loss of one token with respect to the embedding of an earlier one: norms in float64, mean over
    examples."""

    distances: tuple[int, ...]
    """Tokens between the two, 1: neighbours."""
    initial: tuple[float, ...]
    """Before the first step."""
    trained: tuple[float, ...]

    def share(self, distance: int) -> float:
        """Of the gradient at distance 1, after training: what is left at the farthest distance up to `distance`."""
        far = max(i for i, d in enumerate(self.distances) if d <= distance)
        return self.trained[far] / self.trained[0] if self.trained[0] else 0.0


@dataclass(frozen=True, kw_only=True)
class Learned:
    """One model on one task."""

    model: str
    task: str
    parameters: int
    steps: int
    tokens: int
    """Learned from, padding not counted."""
    seconds: float
    """Of all steps, by one thread."""
    curve: tuple[Point, ...]
    reach: Reach

    @property
    def last(self) -> Point:
        return self.curve[-1]

    @property
    def tokens_per_s(self) -> float:
        """While it learned."""
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, kw_only=True)
class CostRow:
    """One model at one length: batch 1, one thread."""

    length: int
    """Tokens."""
    state_bytes: int
    """All that is kept of so many tokens to go on."""
    token_ms: float
    """Processor time to read one more token behind them: median."""
    step_bytes: int
    """Numbers that a training step keeps for its gradient, parameters not counted."""
    step_tokens_per_s: float
    """Of processor time in a training step, forward and backward: median."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    model: str
    rows: tuple[CostRow, ...]


@dataclass(frozen=True, kw_only=True)
class TaskFacts:
    """A task, and what is reached without a model."""

    name: str
    data: str
    """What there is to learn from."""
    held_out: str
    frequency_bits: float
    """By frequencies alone, a token of the sum or a base."""
    frequency_right: float
    """By the most frequent answer."""
    counted_bits: float | None = None
    """By the best Markov model; None where there is none."""
    counted_order: int | None = None
    """Bases from which it foretells the next."""


@dataclass(frozen=True, kw_only=True)
class CompareMachine:
    processor: str
    cores: int
    torch: str
    """Version."""
    load_before: float | None = None
    """Mean number of running processes over the minute before; None where the system does not say."""


@dataclass(frozen=True, kw_only=True)
class Compare:
    run: Run
    machine: CompareMachine
    config: Mapping[str, Any]
    """Resolved settings."""
    tasks: Sequence[TaskFacts]
    learned: Sequence[Learned]
    """By task, then by model, as asked for."""
    costs: Sequence[Cost]

    @property
    def models(self) -> list[str]:
        return [cost.model for cost in self.costs]

    def of(self, task: str) -> dict[str, Learned]:
        """By model."""
        return {one.model: one for one in self.learned if one.task == task}

    def cost(self, model: str) -> Cost:
        return next(cost for cost in self.costs if cost.model == model)

    @property
    def parameters(self) -> float:
        """Median over models and tasks."""
        return statistics.median(one.parameters for one in self.learned)

    @property
    def spread(self) -> float:
        """How far parameters lie apart inside a task at most, as a share of the most."""
        counts = [[one.parameters for one in self.of(task.name).values()] for task in self.tasks]
        return max(1 - min(c) / max(c) for c in counts)

    def to_json(self) -> dict:
        return {
            "schema": COMPARE_SCHEMA,
            "run": self.run.to_json(),
            "machine": asdict(self.machine),
            "config": dict(self.config),
            "tasks": [asdict(task) for task in self.tasks],
            "models": [
                {
                    "model": cost.model,
                    "cost": [asdict(row) for row in cost.rows],
                    "learned": [
                        {**asdict(one), "tokens_per_s": one.tokens_per_s}
                        for one in self.learned
                        if one.model == cost.model
                    ],
                }
                for cost in self.costs
            ],
        }
