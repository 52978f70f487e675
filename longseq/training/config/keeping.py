"""What is measured on the way, what is kept, and who does the work."""

from __future__ import annotations

from dataclasses import dataclass

from longseq.config import require


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig:
    """Bits per base of the records held out."""

    every: int = 200
    """Steps between evaluations; 0: only at the end."""
    tokens: int = 262144
    """Bases to score each time at most, spread evenly over what is held out."""

    def __post_init__(self):
        require(self.every >= 0, "evaluation.every", self.every, ">= 0 steps")
        require(self.tokens >= 1, "evaluation.tokens", self.tokens, ">= 1 base")


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """What is kept to go on from."""

    every: int = 500
    """Steps between checkpoints; 0: only on a stop and at the end."""
    keep: int = 2
    """Checkpoints kept, the latest ones."""
    best: bool = True
    """Save one also where an evaluation found the best figure so far, and keep it beside the latest."""

    def __post_init__(self):
        require(self.every >= 0, "checkpoint.every", self.every, ">= 0 steps")
        require(self.keep >= 1, "checkpoint.keep", self.keep, ">= 1")


@dataclass(frozen=True, kw_only=True)
class ProcessesConfig:
    """How the processes that a launcher started share the work."""

    sequence: int = 1
    """Processes that share each window, one slice of its time each, for windows too long for one; the number of
    processes is a multiple of it. To learn the next token, with mixers that have a memory to hand on: linear,
    retention, gated, mlstm, delta and gated_delta."""

    def __post_init__(self):
        require(self.sequence >= 1, "processes.sequence", self.sequence, ">= 1 process")
