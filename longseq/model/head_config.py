"""What a head answers: its settings, which say it without the layers that do it, and so without torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longseq.config import require

HeadTask = Literal["classify", "multilabel", "regress", "annotate", "masked", "embed"]
Pooling = Literal["mean", "max", "last", "attention"]
OVER_TOKENS = ("annotate", "masked")
"""Tasks whose head answers at every token; the others answer for a record."""
ANSWERS = {
    "classify": "classify records",
    "multilabel": "tell which labels records have",
    "regress": "tell numbers of records",
    "annotate": "classify each token",
    "masked": "tell hidden tokens",
    "embed": "give vectors of tokens",
}


@dataclass(frozen=True, kw_only=True)
class HeadConfig:
    """What a head answers, as `config.json` keeps it."""

    task: HeadTask
    """One class of a record, any number of them, numbers of a record, a class of each token, the masked tokens, or
    nothing but hidden vectors."""
    outputs: int
    """C: classes, numbers, token ids, or channels of a hidden vector."""
    pooling: Pooling = "mean"
    """How a record is read together; heads over tokens have none."""
    span: int = 0
    """Tokens whose mean is read as one before a record is read together; 0: each token by itself."""
    offset: tuple[float, ...] = ()
    """(C,) regress: added to the scaled scores, in units of the targets."""
    scale: tuple[float, ...] = ()
    """(C,) regress: what a score of 1 is in units of the targets."""
    mask_id: int = -1
    """masked: the token id that stands where a token is hidden."""

    @property
    def answers(self) -> str:
        """What it does, for people: a model to …"""
        return ANSWERS[self.task]

    def __post_init__(self):
        require(self.outputs >= 1, "head.outputs", self.outputs, ">= 1")
        require(self.span >= 0, "head.span", self.span, ">= 0 tokens")
        numbers = self.outputs if self.task == "regress" else 0
        for name in ("offset", "scale"):
            require(len(getattr(self, name)) == numbers, f"head.{name}", getattr(self, name), f"{numbers} numbers")
