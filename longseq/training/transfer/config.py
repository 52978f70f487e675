"""How a linear model learns from its softmax teacher."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from longseq.config import require, require_one


@dataclass(frozen=True, kw_only=True)
class ReadConfig:
    """What of the texts is read, and what is held out."""

    column: str | None = None
    """Column with the texts, where inputs are tables; None: `text`, else `sequence`, else the only column of text."""
    held_out: float = 0.02
    """Share of the tokens kept for evaluation: whole documents, or the end of all where none is as short."""
    scored: int = 16384
    """Tokens of them to score each time at most."""
    every: int = 100
    """Steps between evaluations; 0: only at the end."""
    seed: int = 0
    """Of the order of texts, and of the documents held out."""

    def __post_init__(self):
        require(self.column != "", "texts.column", self.column, "the name of a column")
        require(0 <= self.held_out < 1, "texts.held_out", self.held_out, "a share, 0 to below 1")
        require(self.scored >= 1, "texts.scored", self.scored, ">= 1 token")
        require(self.every >= 0, "texts.every", self.every, ">= 0 steps")
        require(self.seed >= 0, "texts.seed", self.seed, ">= 0")


@dataclass(frozen=True, kw_only=True)
class TextConfig(ReadConfig):
    """From texts to what a step reads. Half of what is scored are sentences."""

    sentences: float = 0.5
    """Share of what is read that are sentences by themselves; the rest are documents, cut into segments as they are
    when the model is used."""

    def __post_init__(self):
        super().__post_init__()
        require(0 <= self.sentences <= 1, "texts.sentences", self.sentences, "a share, 0 to 1")


@dataclass(frozen=True, kw_only=True)
class TransferConfig:
    """Attention transfer: each layer's attention learns what its teacher's says of the same hidden vectors."""

    steps: int | None = None
    """Optimiser steps; 0: the stage is left out; None: as many as its share of the time allows."""
    share: float = 0.12
    """Of the time of both stages."""
    batch: int = 512
    """Tokens a step, padding included; one text at least."""
    rate: float = 1e-2
    """Highest learning rate."""
    weights: int = 0
    """In steps whose longest text has at most so many tokens the weights themselves are learned, by the
    Kullback-Leibler divergence from those of the softmax; in others what attention says. 0: nowhere."""
    projections: bool | None = None
    """Whether the projections to queries, keys and values are trained beside feature maps and gains; None: where there
    is nothing else to train."""

    def __post_init__(self):
        _require_stage("transfer", self.steps, self.batch, self.rate)
        require(0 < self.share < 1, "transfer.share", self.share, "a share, above 0 to below 1")
        require(self.weights >= 0, "transfer.weights", self.weights, ">= 0 tokens")


@dataclass(frozen=True, kw_only=True)
class DistilConfig:
    """Distillation: the model by itself learns to give its teacher's hidden vectors."""

    steps: int | None = None
    """Optimiser steps; 0: the stage is left out; None: as many as its share of the time allows."""
    batch: int = 1024
    """Tokens a step, padding included; one text at least."""
    trained: Literal["maps", "all"] = "all"
    """What is learned: feature maps and gains, so that texts within a window in which the softmax is kept stay as they
    are, or all weights."""
    rate: float = 1e-4
    """Highest learning rate …"""
    faster: float = 4.0
    """… times this, of feature maps and gains."""
    rank: int = 0
    """r of low-rank adapters beside weights that stay as they are, maps and gains aside; 0: all weights are trained."""
    alpha: float = 16.0
    """What adapters learn is scaled by alpha / r."""
    hidden: float = 1.0
    """Weight of the error of the final hidden vectors, relative to their size."""
    pooled: float = 1.0
    """Weight of 1 - the cosine between the means of a text's hidden vectors."""
    layers: float = 1.0
    """Weight of the error of the hidden vectors after each layer but the last, the mean over layers."""

    def __post_init__(self):
        _require_stage("distil", self.steps, self.batch, self.rate)
        require(0 < self.faster < math.inf, "distil.faster", self.faster, "above 0 and finite")
        require(self.trained in ("maps", "all"), "distil.trained", self.trained, "'maps' or 'all'")
        require(self.rank >= 0, "distil.rank", self.rank, ">= 0")
        require(not self.rank or self.trained == "all", "distil.rank", self.rank, "0 where distil.trained is 'maps'")
        for name in ("hidden", "pooled", "layers"):
            require(0 <= getattr(self, name) < math.inf, f"distil.{name}", getattr(self, name), ">= 0 and finite")
        require(0 < self.alpha < math.inf, "distil.alpha", self.alpha, "above 0 and finite")
        weights = (self.hidden, self.pooled, self.layers)
        require(any(weights), "distil.hidden", self.hidden, "above 0 where distil.pooled and distil.layers are 0")


Trained = Literal["gates", "maps", "all"]


@dataclass(frozen=True, kw_only=True)
class OpeningConfig:
    """The memory is opened: what stood in earlier segments learns to be of use."""

    trained: Trained = "gates"
    """What is learned: the gates alone, with feature maps and gains, or all weights. A text of one segment is read as
    it was where it is the gates alone; else its vectors are learned too, those of the teacher."""
    segments: int = 0
    """Segments that the teacher reads at once, 2 or more; 0: as many as it has positions for."""
    steps: int | None = None
    """Optimiser steps; None: as many as the time allows."""
    batch: int = 2048
    """Tokens a step, padding included; one run of segments at least."""
    rate: float = 2e-2
    """Highest learning rate of the gates …"""
    slower: float = 0.01
    """… times this, of all other weights."""
    hidden: float = 1.0
    """Weight of the error of the final hidden vectors, relative to their size."""
    pooled: float = 1.0
    """Weight of 1 - the cosine between the means of these vectors."""

    def __post_init__(self):
        require_one("opening.trained", self.trained, get_args(Trained))
        require(self.segments == 0 or self.segments >= 2, "opening.segments", self.segments, "0, or >= 2")
        require(self.steps is None or self.steps >= 1, "opening.steps", self.steps, ">= 1")
        _require_stage("opening", self.steps, self.batch, self.rate)
        require(0 < self.slower < math.inf, "opening.slower", self.slower, "above 0 and finite")
        for name in ("hidden", "pooled"):
            require(0 <= getattr(self, name) < math.inf, f"opening.{name}", getattr(self, name), ">= 0 and finite")
        require(bool(self.hidden or self.pooled), "opening.hidden", self.hidden, "above 0 where opening.pooled is 0")


def _require_stage(stage: str, steps: int | None, batch: int, rate: float) -> None:
    require(steps is None or steps >= 0, f"{stage}.steps", steps, ">= 0")
    require(batch >= 2, f"{stage}.batch", batch, ">= 2 tokens")
    require(0 < rate < math.inf, f"{stage}.rate", rate, "above 0 and finite")
