"""The two stages as tasks of a training run."""

from __future__ import annotations

import hashlib
import json
import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from longseq.log import count
from longseq.model import Model
from longseq.tokens.stream import StreamTokenizer
from longseq.training.device import sum_over
from longseq.training.tasks.base import Figures, Task
from longseq.training.transfer import scoring
from longseq.training.transfer.bundles import Bundles
from longseq.training.transfer.config import DistilConfig, TextConfig, TransferConfig
from longseq.training.transfer.objectives import (
    AttentionTransfer,
    Distillation,
    freeze_for_distillation,
    freeze_for_transfer,
    fresh,
)
from longseq.training.transfer.teaching import Teacher
from longseq.training.transfer.texts import Texts

if TYPE_CHECKING:
    from accelerate import Accelerator

log = logging.getLogger("longseq")


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What both stages are about."""

    texts: Texts
    settings: TextConfig
    teacher: Teacher
    tokenizer: StreamTokenizer
    """Without special tokens around segments: as a checkpoint keeps it."""


class Stage(Task):
    name: str
    """In a few letters, for people."""

    def __init__(self, lesson: Lesson, settings: TransferConfig | DistilConfig, model: Model | None = None):
        """`model` is the one that the stage starts from."""
        self.lesson, self.settings, self._model = lesson, settings, model
        self.tokenizer, texts = lesson.tokenizer, lesson.texts
        read = {name: getattr(lesson.settings, name) for name in ("sentences", "held_out", "seed")}
        told = json.dumps([texts.digest, read, self._learned_by()])
        self.digest = hashlib.sha256(told.encode()).hexdigest()[:16]
        learned, self._held_out = split(texts, lesson.settings.held_out, lesson.settings.seed)
        learned = self._asking(learned)
        sentences, seed = lesson.settings.sentences, lesson.settings.seed
        self.train = Bundles(texts, learned, batch=settings.batch, sentences=sentences, seed=seed)
        self.bases = self.train.tokens
        kinds = np.bincount(texts.sentence[learned], minlength=2).tolist()
        self.described = f"{count(kinds[0], 'segment')} and {count(kinds[1], 'sentence')}"
        self.rule = count(len(self._held_out), "text")
        self._scored: list[np.ndarray] = []
        if len(self._held_out):
            wanted = lesson.settings.scored, settings.batch, lesson.settings.seed
            self._scored = scoring.held_out_batches(texts, self._held_out, *wanted)
        self.to_score = sum(int(texts.lengths[rows].sum()) for rows in self._scored)

    @abstractmethod
    def _all_ask(self) -> bool:
        """Whether texts within a window in which the softmax is kept have something to say."""

    def _asking(self, rows: np.ndarray) -> np.ndarray:
        """Those of the texts to learn from that have, or all where none has."""
        if self._all_ask() or self._model is None:
            return rows
        longer = rows[self.lesson.texts.lengths[rows] > self._model.config.softmax_window]
        return longer if len(longer) else rows

    @abstractmethod
    def _learned_by(self) -> dict[str, object]:
        """The settings that what is learned depends on."""

    def model(self) -> Model:
        assert self._model is not None
        return self._model

    def score(self, model: Model, stop: Callable[[], bool] = lambda: False) -> Figures | None:
        """Of a model, on what is held out, in this process alone; None if `stop` came true, or nothing is held out."""
        found = scoring.sums(model, self.lesson.teacher, self.lesson.texts, self._scored, stop)
        return scoring.figures(found) if found is not None and self._scored else None

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        mine = self._scored[processes.process_index :: processes.num_processes]
        found = scoring.sums(objective.model, self.lesson.teacher, self.lesson.texts, mine, stop)
        width = 6 + len(objective.model.encoder.layers)
        total = sum_over(processes, *(np.zeros(width) if found is None else found).tolist(), found is None)
        if total[-1]:
            return None
        told = scoring.figures(total[:-1])
        if processes.is_main_process:
            log.info("%s: %s", self.name, scoring.said(told))
        return told

    def said(self, figures: Figures) -> str:
        return scoring.said(figures)

    def notes(self) -> tuple[str, ...]:
        found = self.lesson.texts.notes()
        if not self._scored:
            found.append("warning: nothing is held out (texts.held_out), so nothing will say how well the model does")
        return tuple(found)

    def facts(self) -> dict[str, object]:
        return {"stage": self.name}


class TransferStage(Stage):
    name, main, lower_is_better = "transfer", "attention_error", True
    settings: TransferConfig

    def _learned_by(self) -> dict[str, object]:
        return {name: getattr(self.settings, name) for name in ("batch", "weights", "projections")}

    def _all_ask(self) -> bool:
        return bool(self.settings.projections)

    def objective(self, model: Any) -> nn.Module:
        freeze_for_transfer(model, self.settings)
        return AttentionTransfer(model, self.lesson.teacher, self.settings)

    def learned(self, loss: float) -> Figures:
        name = "loss" if self.settings.weights else "attention_error"
        return {name: loss / len(self.lesson.teacher.encoder.layers)}


class DistilStage(Stage):
    name, main, lower_is_better = "distil", "cosine", False
    settings: DistilConfig

    def _learned_by(self) -> dict[str, object]:
        return {name: getattr(self.settings, name) for name in ("trained", "batch", "hidden", "pooled", "layers")}

    def _all_ask(self) -> bool:
        return self.settings.trained == "all"

    def objective(self, model: Any) -> nn.Module:
        freeze_for_distillation(model, self.settings)
        return Distillation(model, self.lesson.teacher, self.settings)

    def faster(self, model: Any) -> Mapping[nn.Parameter, float]:
        return dict.fromkeys(fresh(model), self.settings.faster)

    def learned(self, loss: float) -> Figures:
        return {"loss": loss}


def split(texts: Texts, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows held out: of whole documents drawn at random, up to the share of all tokens; where
    none is as short as that, those at the end of either kind, one at least but never all."""
    every = np.arange(len(texts.lengths))
    if not share:
        return every, every[:0]
    tokens = np.bincount(texts.document, weights=texts.lengths)
    limit = share * tokens.sum()
    order = np.random.default_rng([seed, 4]).permutation(np.flatnonzero(tokens))
    order = order[tokens[order] <= limit]
    if len(order):
        held = np.isin(texts.document, order[np.cumsum(tokens[order]) <= limit])
    else:
        held = np.zeros(len(every), bool)
        for kind in (False, True):
            rows = np.flatnonzero(texts.sentence == kind)
            learned = max(min(len(rows) - round(share * len(rows)), len(rows) - 1), 1)
            held[rows[learned:]] = True
    return every[~held], every[held]
