"""A training run as a whole."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Literal

from longseq.config import require
from longseq.model.config import ModelConfig
from longseq.model.mixers import WHOLE
from longseq.training.config.adapter import AdapterConfig
from longseq.training.config.data import DataConfig
from longseq.training.config.keeping import CheckpointConfig, EvaluationConfig, ProcessesConfig
from longseq.training.config.labels import LabelConfig
from longseq.training.config.mask import MaskConfig
from longseq.training.config.optimiser import OptimiserConfig
from longseq.training.config.pairs import PairConfig

RECORDS = ("classify", "multilabel", "regress")
"""Tasks whose labels are those of whole records."""
LABELLED = (*RECORDS, "annotate")
"""Tasks that learn from labels."""
ANSWERED = (*LABELLED, "seq2seq")
"""Tasks whose examples have one answer each, however long they are."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """A training run. It ends at `steps`, `epochs` or `minutes`, whichever comes first; else after one epoch, or from
    labels or pairs after 1,000 steps, 3 epochs at least and 20 at most."""

    inputs: tuple[str, ...] = ()
    """Sequence files."""
    task: Literal["next", "masked", "classify", "multilabel", "regress", "annotate", "seq2seq"] = "next"
    """What is learned: the next base or token; hidden ones, from both sides; one class of a record, any number of them,
    or a number; a class of every base; the target that belongs to a source."""
    start: str | None = None
    """Model to start from, shipped name or directory: its encoder, and its head where the task is the same."""
    freeze: Literal["nothing", "encoder"] = "nothing"
    """What stays as it was at the start: nothing, or the encoder, so that the head alone is trained. With adapters the
    encoder's own weights stay in any case."""
    steps: int | None = None
    """Optimiser steps."""
    epochs: float | None = None
    """Times that the training bases are read."""
    minutes: float | None = None
    """Wall time, evaluation and checkpoints included, over all resumes. The learning rate then follows the clock."""
    batch: int = 0
    """Tokens a step, over all processes; rounded down to whole windows, at least one for each process. 0: a
    thirty-second of what is learned from, 4,096 to 16,384; from labels or pairs sixteen windows, of 1,024 to 8,192
    tokens in all; and to annotate 4,096."""
    accumulate: int = 1
    """Parts into which each process divides its windows of a step, worked off one after the other: the memory of one
    part, the gradient of all."""
    recompute: bool = False
    """Keep only the input of each layer for the gradient, and work the layer out again: less memory, more time."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """Of matrix products; parameters, memories and optimiser are fp32. In fp16 the loss is scaled, and a step whose
    gradients overflow is passed over."""
    device: str = "auto"
    """Where to run: cpu, cuda, cuda:1; auto: a CUDA device where there is one, else the CPU. (Memories are summed in
    float64, which Metal has not.)"""
    threads: int | None = None
    """Compute threads a process on the CPU; None: as torch finds them. Rounding depends on it."""
    trackers: tuple[str, ...] = ()
    """Where the figures of metrics.jsonl are shown too, as they come: tensorboard (event files in RUN/trackers), wandb,
    mlflow or another tracker that accelerate knows and whose package is installed."""
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    labels: LabelConfig = field(default_factory=LabelConfig)
    mask: MaskConfig = field(default_factory=MaskConfig)
    pairs: PairConfig = field(default_factory=PairConfig)
    adapter: AdapterConfig = field(default_factory=AdapterConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)
    processes: ProcessesConfig = field(default_factory=ProcessesConfig)

    def __post_init__(self):
        require(self.steps is None or self.steps >= 1, "steps", self.steps, ">= 1")
        for name in ("epochs", "minutes"):
            limit = getattr(self, name)
            require(limit is None or 0 < limit < math.inf, name, limit, "above 0 and finite")
        least = 1 if self.task in ANSWERED else self.data.window  # records may be shorter than a window
        require(self.batch == 0 or self.batch >= least, "batch", self.batch, f"at least one window ({least} tokens)")
        known = re.fullmatch(r"auto|cpu|cuda(:\d+)?", self.device)
        require(known is not None, "device", self.device, "auto, cpu, cuda or cuda:N")
        letters = len(self.data.alphabet.letters)
        require(
            self.model.vocabulary >= letters,
            "model.vocabulary",
            self.model.vocabulary,
            f"at least the {letters} letters of the alphabet",
        )
        require(self.threads is None or self.threads >= 1, "threads", self.threads, ">= 1")
        require(self.accumulate >= 1, "accumulate", self.accumulate, ">= 1 part")
        if self.processes.sequence > 1:
            self._require_slices()
        if self.data.grow:
            self._require_growth()
        self._require_labels()
        if self.task == "seq2seq":
            self._require_pairs()

    def _require_pairs(self) -> None:
        data = self.data
        require(data.carry == 1, "data.carry", data.carry, "1 window to seq2seq, which takes pairs whole")
        require(not data.relabel, "data.relabel", data.relabel, "0 to seq2seq")
        named = data.held_out_groups
        require(not named, "data.held_out_groups", named, "none to seq2seq, but pairs.held_out_groups")

    def _require_slices(self) -> None:
        key, slices = "processes.sequence", self.processes.sequence
        whole = sorted(set(self.model.pattern) & set(WHOLE))
        require(not whole, key, slices, f"1 with {', '.join(whole)} mixers, which read a window whole")
        require(self.task == "next", key, slices, f"1 to {self.task}")
        name = "data.shortest" if self.data.grow else "data.window"
        require(slices <= self.data.narrowest, key, slices, f"at most {name} ({self.data.narrowest})")

    def _require_growth(self) -> None:
        grow = self.data.grow
        require(self.task in ("next", "masked"), "data.grow", grow, f"0 to {self.task}, from whole records")
        require(self.steps is None or grow < self.steps, "data.grow", grow, f"below steps ({self.steps})")

    def _require_labels(self) -> None:
        labels, task = self.labels, self.task
        needs = "'nothing' without a model to start from"
        require(self.freeze == "nothing" or self.start is not None, "freeze", self.freeze, needs)
        labelled = task in LABELLED
        words = self.data.tokenizer
        require(task != "annotate" or not words, "data.tokenizer", words, "none to annotate: intervals count bases")
        require(labelled == (labels.file is not None), "labels.file", labels.file, _file_rule(task, labelled))
        require(labelled or not self.data.shift, "data.shift", self.data.shift, f"0 to {task}")
        require(not (labelled and self.data.relabel), "data.relabel", self.data.relabel, f"0 to {task}")
        named = self.data.held_out_records
        require(task in ("next", "masked") or not named, "data.held_out_records", named, f"none to {task}, but groups")
        number = task == "regress"
        require(not (number and labels.smoothing), "labels.smoothing", labels.smoothing, "0 to regress")
        require(not (number and labels.weights == "balanced"), "labels.weights", labels.weights, "'equal' to regress")
        causal = self.model.visibility == "causal"
        require(
            not (task == "masked" and causal), "model.visibility", "causal", "'both' or 'segment' with task 'masked'"
        )
        if self.model.visibility == "both":
            require(self.data.carry == 1, "data.carry", self.data.carry, "1 window with model.visibility 'both'")
        if self.model.visibility == "segment" and self.data.carry > 1:
            whole = f"a multiple of model.segment ({self.model.segment}), over which states are carried"
            require(self.data.window % self.model.segment == 0, "data.window", self.data.window, whole)
            grown = not self.data.grow or self.data.shortest % self.model.segment == 0
            require(grown, "data.shortest", self.data.shortest, whole)


def _file_rule(task: str, labelled: bool) -> str:
    return f"a file of labels to {task} by" if labelled else f"none with task {task!r}"
