"""What `--set` says, and the options beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from longseq.config import require, require_one
from longseq.model.teachers import Shape
from longseq.ops.feature_maps import FEATURE_MAPS
from longseq.training.transfer import DistilConfig, OpeningConfig, ReadConfig, TextConfig, TransferConfig

MINUTES, OPENING = 40.0, 10.0
"""Of both stages of a conversion together, and of the opening of a memory, where nothing else limits them."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """From which texts, how long and on what machine is learned."""

    inputs: tuple[str, ...] = ()
    """Files and folders with texts to learn from."""
    exclude: tuple[str, ...] = ()
    """Files that name texts to leave out."""
    minutes: float | None = None
    """Wall time of all stages, over all resumes; None: 40 (of an opening 10), or as long as their steps take."""
    device: str = "auto"
    """Where to run: cpu, cuda, cuda:1; auto: a CUDA device where there is one, else the CPU."""
    threads: int | None = None
    """Compute threads on the CPU; None: as torch finds them."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """Of matrix products."""
    accumulate: int = 1
    """Parts of a step that are worked off one after the other: the memory of one part."""
    save_every: int = 200
    """Steps between checkpoints; 0: only on a stop and at the end."""

    def __post_init__(self):
        limit = self.minutes
        require(limit is None or 0 < limit < math.inf, "minutes", limit, "above 0 and finite")
        require(self.accumulate >= 1, "accumulate", self.accumulate, ">= 1 part")
        require(self.save_every >= 0, "save_every", self.save_every, ">= 0 steps")


@dataclass(frozen=True, kw_only=True)
class Settings(Run):
    """Of a conversion to a linear model; one that keeps the softmax has `teacher` alone."""

    map: str = "wide-hedgehog"
    """Feature map of the linear mixers."""
    window: int = 0
    """Tokens of the windows inside a segment in which the softmax is kept; 0: none."""
    memory_gate: bool = True
    """Earlier segments are read through a gate that begins closed; else they count as the own one."""
    teacher: Shape = field(default_factory=Shape)
    texts: TextConfig = field(default_factory=TextConfig)
    transfer: TransferConfig = field(default_factory=TransferConfig)
    distil: DistilConfig = field(default_factory=DistilConfig)

    def __post_init__(self):
        super().__post_init__()
        require_one("map", self.map, FEATURE_MAPS)
        require(self.window >= 0, "window", self.window, ">= 0 tokens")

    def limit(self, stage: str) -> float | None:
        """Minutes of `transfer` or of `distil`; None: its steps alone end it."""
        settings = self.transfer if stage == "transfer" else self.distil
        if self.minutes is None and settings.steps is not None:
            return None
        other = self.distil if stage == "transfer" else self.transfer
        share = 1.0 if other.steps == 0 else self.transfer.share
        return (self.minutes or MINUTES) * (share if stage == "transfer" or share == 1.0 else 1 - share)


@dataclass(frozen=True, kw_only=True)
class OpeningSettings(Run):
    """Of a memory that is opened."""

    teacher: str | None = None
    """The Transformer that the model was converted from: its directory, or a checkpoint that keeps its softmax."""
    texts: ReadConfig = field(default_factory=ReadConfig)
    opening: OpeningConfig = field(default_factory=OpeningConfig)

    def limit(self) -> float | None:
        """Minutes; None: the steps alone end it."""
        return OPENING if self.minutes is None and self.opening.steps is None else self.minutes
