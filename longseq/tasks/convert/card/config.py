"""How much a report card looks at."""

from __future__ import annotations

from dataclasses import dataclass

from longseq.config import require
from longseq.streaming.hidden import AHEAD


@dataclass(frozen=True, kw_only=True)
class CardConfig:
    """The defaults take about two minutes with a model of 20 million parameters."""

    texts: int = 150
    """Texts whose vectors are compared, at most; they are spread evenly over those given."""
    labelled: int = 1000
    """Labelled texts, at most."""
    tokens: int = 2048
    """Tokens of the stretches of one length up to a segment, about; two stretches at least, 64 at most."""
    documents: int = 2
    """Stretches longer than a segment."""
    longest: int = 8192
    """Their tokens, at most."""
    lengths: tuple[int, ...] = (256, 1024, 4096, 16384)
    """Tokens at which speed and memory are measured."""
    rounds: int = 3
    """In each every reader passes once, one after the other; figures are medians."""
    shortest: float = 0.2
    """Seconds that are timed at least: a short pass is repeated, and the mean is taken."""
    budget: float = 90.0
    """Seconds that speed and memory may take, about; lengths that would not fit are left out, and said. 0: no speed, no
    latency."""
    chunk: int = AHEAD
    """Tokens a recurrent call, rounded up to whole segments."""
    conversation: int = 4000
    """Tokens of a live conversation."""
    turn: int = 32
    """Tokens of one more turn, special ones included."""
    threads: int = 1
    """Of the processor."""
    seed: int = 0
    """Of folds and intervals."""

    def __post_init__(self):
        for name, least in (("texts", 2), ("labelled", 2), ("tokens", 1), ("documents", 1), ("longest", 1)):
            require(getattr(self, name) >= least, name, getattr(self, name), f">= {least}")
        require(all(n >= 1 for n in self.lengths), "lengths", self.lengths, ">= 1 token")
        for name, least in (("rounds", 1), ("chunk", 1), ("conversation", 1), ("turn", 3), ("threads", 1)):
            require(getattr(self, name) >= least, name, getattr(self, name), f">= {least}")
        require(self.shortest >= 0, "shortest", self.shortest, ">= 0 seconds")
        require(self.budget >= 0, "budget", self.budget, ">= 0 seconds")
