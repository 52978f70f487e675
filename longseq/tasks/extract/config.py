"""What a run is told that trains an extractor. `longseq train DATA --task extract --set layers=0` reads it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from longseq.config import require
from longseq.tasks.extract.traits import TRAITS

if TYPE_CHECKING:
    from longseq.model.extractor import ExtractorConfig


@dataclass(frozen=True, kw_only=True)
class ExtractConfig:
    """How an extractor is trained."""

    task: Literal["extract"] = "extract"
    inputs: tuple[str, ...] = ()
    """Documents, or tables of them."""
    labels: str | None = None
    """What `longseq oracle` wrote of these documents."""
    text: str | None = None
    """Column with the texts, where inputs are tables."""
    start: str | None = None
    """Model of documents whose encoder reads the sentences; it stays as it is, and goes with the extractor. None: the
    sentences' traits alone are read."""
    layers: int = 1
    """Layers of the recurrence over sentences, each way; 0: every sentence is judged by itself."""
    width: int = 32
    """Channels of the recurrence."""
    heads: int = 2
    """Attention heads of its layers."""
    dropout: float = 0.1
    """Share of its residual channels dropped in training."""
    penalty: float = 10.0
    """Of the squared weights by which a sentence is judged by itself, on traits of unit spread; in sentences."""
    epochs: int = 5
    """Times that the recurrence reads the documents."""
    batch: int = 4
    """Documents a step."""
    rate: float = 1e-3
    """Highest learning rate of the recurrence."""
    held_out: float = 0.2
    """Share of the documents kept to be scored."""
    threads: int = 1
    """Compute threads. Rounding depends on it."""
    seed: int = 0
    """Of the documents held out, of the initial weights and of the order of documents."""

    def __post_init__(self):
        for name, least in (("epochs", 1), ("batch", 1), ("threads", 1), ("seed", 0)):
            require(getattr(self, name) >= least, name, getattr(self, name), f">= {least}")
        require(0 < self.penalty < math.inf, "penalty", self.penalty, "above 0 and finite")
        require(0 < self.rate < math.inf, "rate", self.rate, "above 0 and finite")
        require(0 <= self.held_out < 1, "held_out", self.held_out, "a share, 0 to below 1")
        require(self.text != "", "text", self.text, "the name of a column")
        self.model(0)

    def model(self, states: int) -> ExtractorConfig:
        """The extractor's own configuration, for states of so many channels."""
        from longseq.model.extractor import ExtractorConfig

        return ExtractorConfig(
            traits=TRAITS,
            states=states,
            layers=self.layers,
            width=self.width,
            heads=self.heads,
            dropout=self.dropout,
            seed=self.seed,
        )
