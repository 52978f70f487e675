"""What tasks on labelled records have in common: the records, the strands, the words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from longseq.formats.folders import files
from longseq.model import Model
from longseq.model.head_config import HeadConfig
from longseq.model.headed import build
from longseq.tokens import DnaTokenizer
from longseq.training.config import TrainConfig
from longseq.training.documents import Documents
from longseq.training.examples import Examples
from longseq.training.grouping import digest_of
from longseq.training.leakage import warnings
from longseq.training.records import records_of
from longseq.training.spans import SpanExamples
from longseq.training.split import Split
from longseq.training.store import Store, fingerprint
from longseq.training.tasks import figures
from longseq.training.tasks.base import Figures, Task
from longseq.training.tasks.documents import facts_of

if TYPE_CHECKING:
    from accelerate import Accelerator


class LabelledTask(Task):
    """A subclass sets `names`, `train`, `held_out`, `rule`, `described`, `chosen`, `parts` and `told`."""

    lower_is_better = False
    names: tuple[str, ...]
    train: Examples | SpanExamples
    held_out: Examples | SpanExamples | None
    chosen: np.ndarray
    """Passages of `held_out` that an evaluation reads."""
    parts: Split
    """The same as stretches of the store."""
    told: tuple[str, ...]
    """Notes on the labels."""

    def __init__(self, config: TrainConfig, store: Store | Documents):
        self.config, self.store = config, store
        self.soft_masked = store.soft_masked if isinstance(store, Store) else None
        self.records = records_of(store, config.data.alphabet)
        self.tokenizer = store.tokenizer if isinstance(store, Documents) else DnaTokenizer(config.data.alphabet)
        self.main = figures.MAIN[config.task]
        assert config.labels.file is not None
        told = files(tuple(filter(None, (config.labels.file, config.labels.alias))))
        self.digest = digest_of(fingerprint(told, self.records.digest), config.data)

    def choose(self, examples: Examples | SpanExamples) -> np.ndarray:
        """Passages of at most `evaluation.tokens`, one at least, drawn once, in order of length."""
        order = np.random.default_rng([self.config.data.seed, 4]).permutation(examples.passages)
        lengths = examples.lengths()[order]
        chosen = order[: max(1, int((np.cumsum(lengths) <= self.config.evaluation.tokens).sum()))]
        self.to_score = int(examples.lengths()[chosen].sum())
        return chosen[np.argsort(examples.lengths()[chosen], kind="stable")]

    @abstractmethod
    def head(self) -> HeadConfig:
        """What the head answers."""

    def model(self) -> Model:
        return build(self.config.model, self.head(), self.names, self.tokenizer)

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        training = objective.training
        objective.eval()
        try:
            return self.score(objective, processes, lanes=lanes, stop=stop)
        finally:
            objective.train(training)

    @abstractmethod
    def score(self, objective: nn.Module, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]) -> Any:
        """`evaluate` of a loss in evaluation mode."""

    def learned(self, loss: float) -> Figures:
        return {"loss": loss}

    def said(self, found: Figures) -> str:
        return figures.said(self.config.task, dict(found))

    def notes(self) -> tuple[str, ...]:
        found = [*self.records.notes(), *self.told]
        if self.held_out is None:
            found.append("warning: nothing is held out (labels.held_out), so nothing will say how well the model does")
        elif len(self.chosen) < self.held_out.passages:
            part = f"{len(self.chosen):,} of {self.held_out.passages:,}"
            found.append(f"note: {part} held-out examples are scored, of evaluation.tokens in all")
        return tuple(found)

    def leaks(self) -> tuple[str, ...]:
        return warnings(self.store, self.parts, self.config.data, self.tokenizer)

    def facts(self) -> dict[str, object]:
        assert self.config.labels.file is not None
        data, labels = self.config.data, self.config.labels
        return {
            "task": self.config.task,
            "labels": PurePath(self.config.labels.file).name,
            "weights": f"{labels.weights}, smoothing {labels.smoothing:g}",
            **facts_of(self.tokenizer),
            "strands": "both" if data.both_strands and self.records.complement is not None else "forward",
            "windows": f"up to {self.train.width:,} {self.records.unit}s, state carried over up to {self.train.carry}",
            "started from": f"{self.config.start or 'nothing'}, {self.config.freeze} frozen",
        }
