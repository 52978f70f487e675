"""What a run is going to do, known before its first step, and what it has done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from longseq.log import duration, short
from longseq.training.config import TrainConfig


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Said before step 1."""

    parameters: int
    """Trained numbers of the model."""
    bases: int
    """Bases to learn from."""
    held_out: str
    """What is held out for evaluation."""
    batch: int
    """Tokens a step, padding included."""
    steps: int | None
    """Steps at the end; None: as many as `minutes` allow."""
    first_step: int
    """Steps done already."""
    minutes: float | None
    """Limit of wall time, over all resumes."""
    spent: float
    """Seconds of it that are over."""
    step_seconds: float
    """Of a trial step."""
    memory_mib: float
    """Most memory a process will hold, optimiser included."""
    device: str
    precision: str
    threads: int
    processes: int
    notes: tuple[str, ...] = ()
    """What the reader should know of the inputs."""

    @property
    def seconds(self) -> float:
        """Estimate of the time from here to the end, evaluation and checkpoints apart."""
        whole = float("inf") if self.steps is None else (self.steps - self.first_step) * self.step_seconds
        return whole if self.minutes is None else min(whole, max(60 * self.minutes - self.spent, 0.0))

    @property
    def tokens(self) -> int:
        """Estimate of the tokens from here to the end."""
        return round(self.seconds / self.step_seconds) * self.batch

    def lines(self) -> list[str]:
        """For people."""
        where = f"{self.processes} × {self.device}" if self.processes > 1 else self.device
        steps = "as many steps as time allows" if self.steps is None else f"{self.steps:,} steps"
        begun = f", {self.first_step:,} done" if self.first_step else ""
        return [
            f"model: {self.parameters:,} parameters; {where}, {self.precision}, {self.threads} threads",
            f"data: {self.bases:,} bases to learn from; held out: {self.held_out}",
            *self.notes,
            f"run: {steps} of {self.batch:,} tokens{begun}, {short(self.tokens)} tokens to go "
            f"({self.tokens / self.bases:.2g} epochs)",
            f"estimate: {duration(self.seconds)} at {short(self.batch / self.step_seconds)} tokens/s, "
            f"{short(self.memory_mib)} MiB",
        ]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run came to."""

    step: int
    """Steps done."""
    tokens: int
    """Tokens scored."""
    seconds: float
    """Wall time, over all resumes."""
    held_out_bits: float | None
    """Bits per base of what was held out; None where nothing was, or after a dry run."""
    model: Path | None
    """Directory of the trained model; None after a dry run."""


def last_step(config: TrainConfig, per_epoch: float) -> int | None:
    """The step at which a run ends; None: when its time is over."""
    ends = [config.steps] if config.steps else []
    if config.epochs or not (config.steps or config.minutes):
        ends.append(math.ceil((config.epochs or 1.0) * per_epoch))
    return min(ends) if ends else None
