"""What a run is going to do, known before its first step, and what it has done."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from longseq.log import count, duration, memory, short
from longseq.training import defaults
from longseq.training.config import DataConfig, TrainConfig
from longseq.training.split import Split
from longseq.training.steps import Steps
from longseq.training.store import Store

KNOWN = 0.02
"""Share of a limited run after which its speed is known."""


class Tried(NamedTuple):
    """What the first step of a dry run came to."""

    figure: str
    """What is counted: loss, bits_per_base …"""
    before: float
    """Of its batch, before the update."""
    after: float
    """Of the same batch, after it."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Said before step 1."""

    parameters: int
    """Trained numbers of the model."""
    frozen: int
    """Numbers that stay as they are."""
    bases: int
    """Tokens to learn from, an epoch."""
    data: str
    """What there is to learn from."""
    held_out: str
    """What is held out for evaluation."""
    batch: int
    """Tokens a step, padding included, on average."""
    steps: int | None
    """Steps at the end; None: as many as `minutes` allow."""
    per_epoch: float
    """Steps in which all tokens are read once."""
    first_step: int
    """Steps done already."""
    minutes: float | None
    """Limit of wall time, over all resumes."""
    spent: float
    """Seconds of it that are over."""
    step_seconds: float
    """Of a step, by one on trial."""
    evaluation_seconds: float
    """Of an evaluation."""
    evaluated_every: int
    """Steps between evaluations; 0: only at the end."""
    memory_mib: float
    """Most memory a process will hold, optimiser included."""
    device: str
    precision: str
    threads: int
    processes: int
    tried: Tried | None = None
    """None where no step was made on trial."""
    growth: str = ""
    """How windows grow; empty where they do not."""
    notes: tuple[str, ...] = ()
    """What the reader should know of the inputs."""

    @property
    def seconds(self) -> float:
        """Estimate of the time from here to the end, evaluations included, checkpoints not."""
        return min(self._whole, self._left)

    @property
    def tokens(self) -> int:
        """Estimate of the tokens from here to the end."""
        return self._to_go * self.batch

    @property
    def _to_go(self) -> int:
        """Steps from here to the end."""
        if self.steps is not None and self._whole <= self._left:
            return max(self.steps - self.first_step, 0)
        each = self.step_seconds + (self.evaluation_seconds / self.evaluated_every if self.evaluated_every else 0.0)
        by_time = int(max(self._left - self.evaluation_seconds, 0.0) / each)
        return by_time if self.steps is None else min(by_time, max(self.steps - self.first_step, 0))

    @property
    def _whole(self) -> float:
        """Seconds that all steps take, with their evaluations."""
        if self.steps is None:
            return math.inf
        steps, every = max(self.steps - self.first_step, 0), self.evaluated_every
        between = max(self.steps - 1, 0) // every - self.first_step // every if every else 0
        return steps * self.step_seconds + (between + 1) * self.evaluation_seconds if steps else 0.0

    @property
    def _left(self) -> float:
        """Seconds that `minutes` leave."""
        return math.inf if self.minutes is None else max(60 * self.minutes - self.spent, 0.0)

    def total(self, step: int, over: float) -> int:
        """A better estimate of `tokens`, once `step` steps are done and the share `over` of the time is over."""
        before = 0.0 if self.minutes is None else self.spent / (60 * self.minutes)
        if over - before < KNOWN:
            return self.tokens
        by_time = (step - self.first_step) * (1 - before) / (over - before)
        by_steps = math.inf if self.steps is None else self.steps - self.first_step
        return round(min(by_time, by_steps)) * self.batch

    def lines(self) -> list[str]:
        """For people."""
        where = f"{self.processes} × {self.device}" if self.processes > 1 else self.device
        steps = "as many steps as time allows" if self.steps is None else count(self.steps, "step")
        begun = f", {self.first_step:,} done" if self.first_step else ""
        run = f"run: {steps} of {self.batch:,} tokens{begun}"
        if self.tokens:
            to_go = [
                f"{run}, {short(self.tokens)} tokens to go ({epochs(self._to_go, self.per_epoch)})",
                f"estimate: {duration(self.seconds)} at {short(self.batch / self.step_seconds)} tokens/s, "
                f"{memory(self.memory_mib)}",
            ]
        else:
            to_go = [f"{run}, nothing left to do"]
        whole = f" of {self.parameters + self.frozen:,} parameters trained" if self.frozen else " parameters"
        if self.tried:
            name, before, after = self.tried
            figure = name.replace("_", " ")
            to_go.append(f"tried: one step; {figure} of its batch {before:.4f} before the update, {after:.4f} after")
        return [
            f"model: {self.parameters:,}{whole}; {where}, {self.precision}, {count(self.threads, 'thread')}",
            f"data: {self.data} to learn from; held out: {self.held_out}",
            *([f"windows: {self.growth}"] if self.growth else []),
            *self.notes,
            *to_go,
        ]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run came to."""

    step: int
    """Steps done."""
    tokens: int
    """Tokens learned from."""
    seconds: float
    """Wall time, over all resumes."""
    model: Path | None
    """Directory of the trained model; None after a dry run."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Of what was held out, by name; empty where nothing was, or after a dry run."""
    held_out: str = ""
    """The same in a few words."""

    @property
    def held_out_bits(self) -> float | None:
        """Bits per base of what was held out; None where nothing was, or the task has no such figure."""
        return self.figures.get("bits_per_base")


def epochs(read: float, whole: float) -> str:
    """`0.11 epochs`, `120 epochs`: how often `whole` is read."""
    times = read / whole
    text = short(times) if times >= 0.001 or not times else "under 0.001"
    return f"{text} {'epoch' if text == '1' else 'epochs'}"


def notes(store: Store, parts: Split, data: DataConfig) -> tuple[str, ...]:
    """What the reader should know of the inputs before a run begins."""
    found = [f"note: {where} ends early" for where in store.truncated()]
    bases = parts.train.bases
    if bases < data.window:
        verb = "is" if bases == 1 else "are"
        found.append(
            f"warning: {count(bases, 'base')} {verb} less than one window of {data.window:,} (data.window); "
            "a model learns little from so few"
        )
    if not parts.held_out.bases:
        found.append("warning: nothing is held out (data.held_out), so nothing will say how well the model does")
    return tuple(found)


def last_step(config: TrainConfig, steps: Steps) -> int | None:
    """The step at which a run ends; None: when its time is over."""
    ends = [config.steps] if config.steps else []
    if config.epochs or not (config.steps or config.minutes):
        ends.append(steps.until(config.epochs or _epochs(config, steps)))
    return min(ends) if ends else None


def _epochs(config: TrainConfig, steps: Steps) -> float:
    return defaults.epochs(config.task, steps.grown.per_epoch, defaults.reads_once(config))
