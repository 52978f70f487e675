"""What a training run is made of. `longseq train --config run.toml --set optimiser.rate=1e-3` reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from longseq.config import require
from longseq.model.config import ModelConfig
from longseq.model.mixers import WHOLE
from longseq.records import Alphabet

LABELLED = ("classify", "multilabel", "regress", "annotate")
"""Tasks that learn from labels."""


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """From records to windows."""

    window: int = 2048
    """W, bases of a window: how far gradients reach."""
    carry: int = 1
    """Consecutive windows over which the state is carried, detached, before it starts anew; 1: every window does."""
    both_strands: bool = True
    """Read each window (or run of carried windows) from a strand drawn at random; false: forward only."""
    relabel: float = 0.0
    """Share of windows in which the four bases are renamed by a permutation drawn at random, so that composition has
    to be learned from what was just read, not by heart."""
    relabel_by: Literal["any", "paired"] = "any"
    """Draw from all 24 permutations, or from the 8 that keep complements complementary."""
    ambiguity: Literal["keep", "N"] = "keep"
    """IUPAC codes other than ACGTN keep ids of their own, or are read as N. None of them is ever scored."""
    tokenizer: str | None = None
    """A tokenizer.json: learn from documents, or from DNA in words; positions then count its tokens, every document is
    a record, and DNA is read forward only. None: letters of DNA."""
    held_out: float = 0.02
    """Share of the bases kept for evaluation: whole records where some are small enough, else the end of each."""
    held_out_records: tuple[str, ...] = ()
    """Ids of the records kept for evaluation instead; every record of that id."""
    seed: int = 0
    """Of the order of windows, their offsets, strands and renamings, and of the records held out."""

    def __post_init__(self):
        require(self.window >= 2, "data.window", self.window, ">= 2 bases")
        require(self.carry >= 1, "data.carry", self.carry, ">= 1 window")
        require(0 <= self.relabel <= 1, "data.relabel", self.relabel, "a share, 0 to 1")
        require(0 <= self.held_out < 1, "data.held_out", self.held_out, "a share, 0 to below 1")
        require(self.seed >= 0, "data.seed", self.seed, ">= 0")
        require(not (self.tokenizer and self.relabel), "data.relabel", self.relabel, "0 with data.tokenizer")

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet(ambiguity=self.ambiguity)


@dataclass(frozen=True, kw_only=True)
class LabelConfig:
    """What is asked of labelled records: of whole ones (classify, multilabel, regress) or of every base (annotate)."""

    file: str | None = None
    """Labels: a TSV or CSV with a header line; for annotate BED, GFF3, GTF or GenBank, whose
    intervals are the classes."""
    id: str | None = None
    """Column with ids of records; None: the first."""
    column: str | None = None
    """Column with the label; None: `label`, or the only one that is left. Several labels (multilabel) are separated
    by `;`. An empty cell and NA are no label."""
    group: str | None = None
    """Column whose groups are never divided by the held-out split; None: `group` where there is one, else each id is a
    group of its own."""
    unknown: Literal["error", "skip"] = "error"
    """Labels of records that no input holds: an error, or passed over and counted."""
    unlabelled: Literal["skip", "error"] = "skip"
    """Records without a label: passed over and counted, or an error. For annotate, records without an interval are
    background."""
    classes: tuple[str, ...] = ()
    """annotate: names of intervals to learn, such as CDS; empty: all."""
    background: str = "background"
    """annotate: name of the class where no interval is. Where several are, the last one in the file counts."""
    strands: bool = False
    """annotate: make two classes of an interval's, `name+` and `name-`, which swap when a record is read
    reversed; an interval without a strand is `name+`."""
    held_out: float = 0.2
    """Share of the records (annotate: of the bases) kept for evaluation: whole groups, of each class alike. For
    annotate, the end of each record where there is but one."""
    held_out_groups: tuple[str, ...] = ()
    """Groups kept for evaluation instead."""
    pooling: Literal["mean", "max", "last", "attention"] = "mean"
    """How a record is read together; the same however it was cut."""
    weights: Literal["equal", "balanced"] = "equal"
    """Every example counts the same, or every class does: N / (C N_class) an example (multilabel: a label that is
    there counts as the records without it over those with it)."""
    smoothing: float = 0.0
    """Share of the target that is spread evenly over the classes (Szegedy et al. 2016, section 7)."""

    def __post_init__(self):
        require(0 <= self.held_out < 1, "labels.held_out", self.held_out, "a share, 0 to below 1")
        require(0 <= self.smoothing < 1, "labels.smoothing", self.smoothing, "a share, 0 to below 1")
        require(bool(self.background), "labels.background", self.background, "a name")


@dataclass(frozen=True, kw_only=True)
class MaskConfig:
    """Which bases are hidden (task masked)."""

    share: float = 0.15
    """Share of the bases, on average."""
    span: int = 6
    """Bases that are hidden together: one alone is told by its neighbours. Spans may touch and overlap."""

    def __post_init__(self):
        require(0 < self.share < 1, "mask.share", self.share, "a share, above 0 to below 1")
        require(self.span >= 1, "mask.span", self.span, ">= 1 base")


@dataclass(frozen=True, kw_only=True)
class OptimiserConfig:
    """AdamW (Loshchilov and Hutter 2019, algorithm 2), linear warm-up and cosine decay."""

    rate: float = 3e-3
    """Highest learning rate."""
    floor: float = 0.05
    """Last learning rate, as a share of the highest."""
    warmup: float = 0.02
    """Share of the run over which the rate rises from 0."""
    beta1: float = 0.9
    """Decay of the running mean of gradients, a step."""
    beta2: float = 0.95
    """Decay of the running mean of squared gradients, a step."""
    epsilon: float = 1e-8
    """Added to the root of the mean square."""
    weight_decay: float = 0.1
    """Decay of weight matrices, times the rate, a step; norms, biases, embeddings and other vectors have none."""
    clip: float = 1.0
    """Largest norm of the gradient of all parameters together."""

    def __post_init__(self):
        require(self.rate > 0, "optimiser.rate", self.rate, "above 0")
        require(0 <= self.floor <= 1, "optimiser.floor", self.floor, "a share, 0 to 1")
        require(0 <= self.warmup < 1, "optimiser.warmup", self.warmup, "a share, 0 to below 1")
        for name in ("beta1", "beta2"):
            require(0 <= getattr(self, name) < 1, f"optimiser.{name}", getattr(self, name), "in [0, 1)")
        require(self.epsilon > 0, "optimiser.epsilon", self.epsilon, "above 0")
        require(self.weight_decay >= 0, "optimiser.weight_decay", self.weight_decay, ">= 0")
        require(self.clip > 0, "optimiser.clip", self.clip, "above 0")


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


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """A training run. It ends at `steps`, `epochs` or `minutes`, whichever comes first; else after one epoch."""

    inputs: tuple[str, ...] = ()
    """Sequence files."""
    task: Literal["next", "masked", "classify", "multilabel", "regress", "annotate"] = "next"
    """What is learned: the next base; hidden bases, from both sides; one class of a record, any number of them, or a
    number; a class of every base."""
    start: str | None = None
    """Model to start from, shipped name or directory: its encoder, and its head where the task is the same."""
    freeze: Literal["nothing", "encoder"] = "nothing"
    """What stays as it was at the start: nothing, or the encoder, so that the head alone is trained."""
    steps: int | None = None
    """Optimiser steps."""
    epochs: float | None = None
    """Times that the training bases are read."""
    minutes: float | None = None
    """Wall time, evaluation and checkpoints included, over all resumes. The learning rate then follows the clock."""
    batch: int = 16384
    """Tokens a step, over all processes; rounded down to whole windows, at least one for each process."""
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
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    labels: LabelConfig = field(default_factory=LabelConfig)
    mask: MaskConfig = field(default_factory=MaskConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)
    processes: ProcessesConfig = field(default_factory=ProcessesConfig)

    def __post_init__(self):
        require(self.steps is None or self.steps >= 1, "steps", self.steps, ">= 1")
        require(self.epochs is None or self.epochs > 0, "epochs", self.epochs, "above 0")
        require(self.minutes is None or self.minutes > 0, "minutes", self.minutes, "above 0")
        require(self.batch >= self.data.window, "batch", self.batch, f"at least one window ({self.data.window} tokens)")
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
        self._require_labels()

    def _require_slices(self) -> None:
        key, slices = "processes.sequence", self.processes.sequence
        whole = sorted(set(self.model.pattern) & set(WHOLE))
        require(not whole, key, slices, f"1 with {', '.join(whole)} mixers, which read a window whole")
        require(self.task == "next", key, slices, f"1 to {self.task}")
        require(slices <= self.data.window, key, slices, f"at most data.window ({self.data.window})")

    def _require_labels(self) -> None:
        labels, task = self.labels, self.task
        needs = "'nothing' without a model to start from"
        require(self.freeze == "nothing" or self.start is not None, "freeze", self.freeze, needs)
        labelled = task in LABELLED
        words = self.data.tokenizer
        require(task == "next" or not words, "data.tokenizer", words, f"none to {task}: that takes letters of DNA")
        require(labelled == (labels.file is not None), "labels.file", labels.file, _file_rule(task, labelled))
        require(not (labelled and self.data.relabel), "data.relabel", self.data.relabel, f"0 to {task}")
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


def _file_rule(task: str, labelled: bool) -> str:
    return f"a file of labels to {task} by" if labelled else f"none with task {task!r}"
