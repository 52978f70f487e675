"""The opening of the memory as a task of a training run."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.errors import InputError
from longseq.log import count
from longseq.model import Encoder, Model
from longseq.tokens.stream import StreamTokenizer
from longseq.training.device import sum_over
from longseq.training.tasks.base import Figures, Task
from longseq.training.transfer.config import OpeningConfig, ReadConfig
from longseq.training.transfer.objectives import gates
from longseq.training.transfer.opening import Opening, closed, freeze_for_opening, in_one_window
from longseq.training.transfer.pages import Pages, Shape
from longseq.training.transfer.stages import split
from longseq.training.transfer.teaching import Teacher, pooled
from longseq.training.transfer.texts import Texts

if TYPE_CHECKING:
    from accelerate import Accelerator

log = logging.getLogger("longseq")

Reader = Callable[[Tensor, Tensor], Tensor]
"""From ids (B, T) of pages and a mask (B, T) to hidden vectors (B, T, D) at the places of their text."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What an opening is about."""

    texts: Texts
    settings: ReadConfig
    teacher: Teacher
    tokenizer: StreamTokenizer
    """As the student's checkpoint keeps it."""
    shape: Shape
    student: str
    """Digest of the checkpoint that is opened."""


class OpeningStage(Task):
    main, lower_is_better = "error", True

    def __init__(self, reading: Reading, settings: OpeningConfig, model: Model):
        """Raises InputError without a document of two segments to learn from."""
        self.reading, self.settings, self._model = reading, settings, model
        self.tokenizer, texts = reading.tokenizer, reading.texts
        read = {name: getattr(reading.settings, name) for name in ("held_out", "seed")}
        learned = {name: getattr(settings, name) for name in ("trained", "batch", "slower", "hidden", "pooled")}
        told = json.dumps([texts.digest, read, learned, reading.shape, reading.student])
        self.digest = hashlib.sha256(told.encode()).hexdigest()[:16]
        given = {"batch": settings.batch, "seed": reading.settings.seed}
        parts = split(texts, reading.settings.held_out, reading.settings.seed)
        self.train, self._held_out = (Pages(texts, rows, reading.shape, **given) for rows in parts)
        if not self.train.pages:
            raise InputError(
                where="texts",
                expected=f"documents of more than {reading.shape.segment} tokens, the segment of the model",
                found="none to learn from",
            )
        self.bases = self.train.tokens
        self.described = f"{count(len(self.train.pages), 'run')} of up to {count(reading.shape.most, 'segment')}"
        self.rule = count(len(self._held_out.pages), "run")
        self._scored = self._held_out.sample(reading.settings.scored)
        self.to_score = sum(int(self._held_out.lengths[pages].sum()) for pages in self._scored)

    def model(self) -> Model:
        return self._model

    def objective(self, model: Any) -> nn.Module:
        freeze_for_opening(model, self.settings)
        return Opening(model, self.reading.teacher, self.settings)

    def faster(self, model: Any) -> Mapping[nn.Parameter, float]:
        quick = set(gates(model))
        return {weight: self.settings.slower for weight in model.parameters() if weight not in quick}

    def learned(self, loss: float) -> Figures:
        return {"loss": loss}

    def alone(self) -> Figures:
        """Of the teacher itself, where it reads each segment by itself: what earlier ones change at all."""
        return self._figures(self._sums(self._of_teacher, self._scored))

    def score(self, model: Model, *, opened: bool = True) -> Figures:
        """Of a model, in this process alone, with its gates as they are or closed; empty where nothing is held out."""
        if opened:
            return self._figures(self._sums(self._of_model(model), self._scored)) | self._gates(model)
        with closed(model):
            return self._figures(self._sums(self._of_model(model), self._scored))

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        mine = self._scored[processes.process_index :: processes.num_processes]
        found = self._sums(self._of_model(objective.model), mine, stop)
        total = sum_over(processes, *(np.zeros(4) if found is None else found).tolist(), found is None)
        if total[-1]:
            return None
        told = self._figures(total[:-1]) | self._gates(objective.model)
        if processes.is_main_process:
            log.info("opening: %s", said(told))
        return told

    def said(self, figures: Figures) -> str:
        return said(figures)

    def notes(self) -> tuple[str, ...]:
        found = self.reading.texts.notes()
        if not self._scored:
            found.append("warning: nothing is held out (texts.held_out), so nothing will say how well the model does")
        return tuple(found)

    def facts(self) -> dict[str, object]:
        return {"stage": "opening"}

    def _of_model(self, model: Model) -> Reader:
        encoder: Encoder = model.encoder

        def read(ids: Tensor, mask: Tensor) -> Tensor:
            training = model.training
            model.eval()
            try:
                return encoder(ids, None, mask)[0]
            finally:
                model.train(training)

        return read

    def _of_teacher(self, ids: Tensor, mask: Tensor) -> Tensor:
        parts = []
        for here in range(0, ids.shape[1], self.reading.shape.segment):
            until = here + self.reading.shape.segment
            inside = mask[:, here:until]
            parts.append(self.reading.teacher(ids[:, here:until], inside).hidden)
        return torch.cat(parts, 1)

    @torch.no_grad()
    def _sums(
        self, read: Reader, batches: Iterable[np.ndarray], stop: Callable[[], bool] = lambda: False
    ) -> np.ndarray | None:
        """Squared differences, squared sizes, cosines and pages, each summed; None if `stop` came true."""
        encoder, found = self._model.encoder, np.zeros(4)
        device = next(self.reading.teacher.parameters()).device
        for pages in batches:
            if stop():
                return None
            batch = self._held_out.read(pages).on(device)
            ids, mask, asked = batch["ids"], batch["mask"], batch["weight"] > 0
            wanted = in_one_window(self.reading.teacher, encoder, ids, mask).float()
            hidden = read(ids, mask).float()
            alike = F.cosine_similarity(pooled(hidden, asked), pooled(wanted, asked)).sum()
            apart, size = (x.square().sum(-1).where(asked, 0).sum() for x in (hidden - wanted, wanted))
            found += [apart.item(), size.item(), alike.item(), len(ids)]
        return found

    def _figures(self, found: Iterable[float] | None) -> dict[str, float]:
        if found is None or not self._scored:
            return {}
        apart, size, alike, pages = found
        return {"error": float(apart / size), "cosine": float(alike / pages)}

    def _gates(self, model: Model) -> dict[str, float]:
        """How far the gates of each layer are open, the mean over attention heads."""
        return {f"gate_{n}": gate.detach().tanh().abs().mean().item() for n, gate in enumerate(gates(model), 1)}


def said(told: Figures) -> str:
    """For people."""
    text = f"error to the teacher with earlier segments beside {told['error']:.4f}, cosine {told['cosine']:.4f}"
    opened = [f"{value:.2f}" for name, value in told.items() if name.startswith("gate_")]
    return f"{text}; gates {' '.join(opened)}" if opened else text
