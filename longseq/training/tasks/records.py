"""One class of a record, any number of them, or a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from os.path import abspath
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from longseq.formats.folders import files
from longseq.log import count
from longseq.metrics.calibration import Judged
from longseq.model import HeadConfig, Model, RecordModel
from longseq.model.calibration import Calibration
from longseq.training import defaults
from longseq.training.columns import Names
from longseq.training.config import TrainConfig
from longseq.training.device import gather, sum_over
from longseq.training.documents import Documents
from longseq.training.examples import RecordExamples
from longseq.training.grouping import Groups, groups_of
from longseq.training.holding_out import hold_out
from longseq.training.labels import Labels, read_labels
from longseq.training.spans import AT_ONCE, SPAN, Means, SpanExamples, means
from longseq.training.split import Split, within
from longseq.training.store import Store
from longseq.training.tasks import figures, telling
from longseq.training.tasks.base import Figures
from longseq.training.tasks.beside import without_a_model
from longseq.training.tasks.labelled import LabelledTask
from longseq.training.tasks.losses import RecordLoss, SpanLoss

if TYPE_CHECKING:
    from accelerate import Accelerator


class RecordTask(LabelledTask):
    def __init__(self, config: TrainConfig, store: Store | Documents):
        super().__init__(config, store)
        found = self._labels()
        self.names, truth = found.names, found.targets
        held = hold_out(
            *found.groups,
            np.ones(len(truth)),
            truth if config.task == "classify" else np.zeros(len(truth), np.int64),
            share=config.labels.held_out,
            named=config.data.held_out_groups,
            seed=config.data.seed,
        )
        learned = truth[~held]
        self._require(learned)
        self.offset, self.scale = np.zeros(0), np.zeros(0)
        if config.task == "regress":
            self.offset, self.scale = learned.mean(0), learned.std(0) + (learned.std(0) == 0)
        self._set_null(learned)
        weight, self.positive = _weights(config, learned, len(self.names))
        asked = self._scaled(learned)
        self.means = self._means(found.record) if defaults.reads_once(config) else None
        self.train = self._examples(found.record[~held], shuffle=True).ask(asked, weight)
        self.held_out, self.chosen, self.to_score = None, np.zeros(0, np.int64), 0
        if held.any():
            held_out = self._examples(found.record[held], shuffle=False, whole=True)
            self.held_out = held_out.ask(truth[held], np.ones(int(held.sum())))
            self.chosen = self.choose(self.held_out)
        self.bases, noun = self.train.tokens, self.records.noun
        read = count(self.bases, self.records.unit)
        self.described = f"{count(int((~held).sum()), noun)} {self._of(learned)}, {read}"
        self.rule = _rule(held, found.groups, noun, stratified=config.task == "classify")
        self.parts = self._parts(found, held)
        self._learned = found.record[~held], learned
        self._held, self._groups = found.record[held], found.groups.of[held]
        self.told = (*found.notes, *self._missing(learned), *self._of_held_out(truth[held]))

    def _labels(self) -> Labels:
        config, labels = self.config, self.config.labels
        assert labels.file is not None
        by_file = labels.by == "file"
        tables, inputs = ({*map(abspath, files(names))} for names in ((labels.file,), config.inputs))
        if by_file and config.data.groups == "record":  # records of one label stay together
            groups = None
        else:
            groups = groups_of(self.store, config.data)
        return read_labels(
            Names(self.store.records, "source") if by_file else self.records.ids,
            self.records.lengths,
            config.task,
            labels,
            groups,
            own=not by_file and tables <= inputs,
            text=config.data.text,
        )

    def _parts(self, found: Labels, held: np.ndarray) -> Split:
        lengths = self.records.lengths
        of = np.full(len(lengths), -1, np.int64)
        of[found.record] = found.groups.of
        train, held_out = (
            within(self.store.stretches, which, np.zeros_like(which), lengths[which], len(lengths))
            for which in (found.record[~held], found.record[held])
        )
        return Split(train, held_out, self.rule, Groups(of, found.groups.names))

    def _means(self, which: np.ndarray) -> Means:
        assert isinstance(self.store, Documents)
        return means(self.records, which, self.config, self._span, self.store.directory.parent)

    @property
    def _span(self) -> int:
        """Tokens that the head reads as one; where documents are read once, one at least."""
        once, asked = defaults.reads_once(self.config), self.config.labels.span
        return (SPAN if asked is None else max(asked, 1)) if once else asked or 0

    def _examples(self, which: np.ndarray, *, shuffle: bool, whole: bool = False) -> RecordExamples | SpanExamples:
        data, batch = self.config.data, self.config.batch
        if self.means is None:
            return RecordExamples(self.records, which, data, batch, shuffle=shuffle, whole=whole)
        width = int(self.records.lengths[which].max(initial=1)) if whole else max(batch // AT_ONCE, 1)
        rows = max(batch // width, 1)
        return SpanExamples(self.records, self.means, which, width=width, rows=rows, seed=data.seed, shuffle=shuffle)

    def _scaled(self, targets: np.ndarray) -> np.ndarray:
        """Targets as the loss takes them."""
        if self.config.task != "regress":
            return targets
        return ((targets - self.offset) / self.scale).astype(np.float32)

    def _set_null(self, learned: np.ndarray) -> None:
        """What is said without reading: the most frequent class, the most frequent set of them, the mean."""
        if self.config.task == "classify":
            self.null = np.bincount(learned, minlength=len(self.names)).astype(float)
        elif self.config.task == "multilabel":
            rows, counts = np.unique(learned, axis=0, return_counts=True)
            self.null = rows[counts.argmax()]
        else:
            self.null = learned.mean(0)

    def _of(self, learned: np.ndarray) -> str:
        if self.config.task == "regress":
            return f"with {self.names[0]} {learned.min():g} to {learned.max():g}"
        sizes = np.bincount(learned, minlength=len(self.names)) if learned.ndim == 1 else learned.sum(0)
        some = ", ".join(f"{name} {int(n):,}" for name, n in zip(self.names[:6], sizes, strict=False))
        return f"of {len(self.names)} classes ({some}{' …' if len(self.names) > 6 else ''})"

    def _missing(self, learned: np.ndarray) -> list[str]:
        if self.config.task == "regress":
            return []
        sizes = np.bincount(learned, minlength=len(self.names)) if learned.ndim == 1 else learned.sum(0)
        return [
            f"warning: no {self.records.noun} of {name} is left to learn from; all are held out"
            for name, size in zip(self.names, sizes, strict=True)
            if not size
        ]

    def _require(self, learned: np.ndarray) -> None:
        where = self.config.labels.file
        if self.config.task == "classify":
            sizes = np.bincount(learned, minlength=len(self.names))
            telling.require_classes(sizes, self.names, where, self.records.noun)
        elif self.config.task == "regress":
            telling.require_numbers(learned, where, self.names[0])

    def _of_held_out(self, truth: np.ndarray) -> list[str]:
        if self.config.task != "classify":
            return []
        sizes = np.bincount(truth, minlength=len(self.names))
        return telling.notes_on_held_out(sizes, self.names, self.records.noun)

    def head(self) -> HeadConfig:
        assert self.config.task not in ("next", "annotate")
        return HeadConfig(
            task=self.config.task,  # type: ignore[arg-type]
            outputs=len(self.names),
            pooling=self.config.labels.pooling or ("mean" if self.means is None else "attention"),
            span=self._span,
            offset=tuple(self.offset.tolist()),
            scale=tuple(self.scale.tolist()),
        )

    def model(self) -> Model:
        found = super().model()
        if self.means is not None:
            assert isinstance(found, RecordModel)
            found.head.even_out(*self.means.spread(self._learned[0]))
        return found

    def objective(self, model: Any) -> nn.Module:
        positive = None if self.positive is None else torch.from_numpy(self.positive)
        smoothing = self.config.labels.smoothing
        if self.means is not None:
            return SpanLoss(model, self.means, smoothing=smoothing, positive=positive)
        return RecordLoss(model, smoothing=smoothing, positive=positive)

    def score(
        self, objective: nn.Module, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        """Every record once, whole: read forwards, the state carried to its end, whatever its length."""
        assert isinstance(objective, RecordLoss) and isinstance(self.held_out, RecordExamples | SpanExamples)
        mine = self.chosen[processes.process_index :: processes.num_processes]
        scores, truth, stopped = [np.zeros((0, len(self.names)))], [self.held_out.targets[:0]], False
        groups = [self._groups[:0]]
        with torch.no_grad():
            for first in range(0, len(mine), lanes):
                numbers = mine[first : first + lanes].tolist()
                reading, found = None, None
                for phase in range(-(-int(self.held_out.lengths()[numbers].max()) // self.held_out.width)):
                    stopped = stopped or stop()
                    if stopped:
                        break
                    given = self.held_out.batch(numbers, phase).on(processes.device)
                    found, reading = objective.scores(given["ids"], given["mask"], reading)
                if found is not None and not stopped:
                    scores.append(found.float().cpu().numpy())
                    truth.append(self.held_out.targets[numbers])
                    groups.append(self._groups[numbers])
        if sum_over(processes, float(stopped))[0]:
            return None
        told = {"scores": scores, "truth": truth, "groups": groups}
        parts = gather(processes, {name: torch.from_numpy(np.concatenate(values)) for name, values in told.items()})
        said, asked, of = (np.concatenate([part[name].numpy() for part in parts]) for name in told)
        if len(self.scale):
            said = said * self.scale + self.offset
        return figures.of_records(self.config.task, said, asked, self.null, of) | self._beside

    @cached_property
    def _beside(self) -> dict[str, float]:
        """What is told of the records scored without a model, learned from some of those learned from."""
        if self.config.task != "classify":
            return {}
        assert isinstance(self.held_out, RecordExamples | SpanExamples)
        asked, truth = self._held[self.chosen], self.held_out.targets[self.chosen]
        return without_a_model(self.records, self.tokenizer, *self._learned, asked, truth, self.config.data.seed)

    def facts(self) -> dict[str, object]:
        found = super().facts()
        if self.means is not None:
            found["windows"] = f"read whole, once, in means of {self.means.span} tokens"
        return found

    def calibration(self, found: Figures) -> Calibration | None:
        """By the records held out; they were scored with the weights that are saved."""
        if "temperature" not in found:
            return None
        fit = Judged(*(found.get(f"calibrated_{name}", math.nan) for name in Judged._fields))
        return Calibration.judged(found["temperature"], found.get("in_range_above"), int(found["records"]), fit)


def _weights(config: TrainConfig, learned: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray | None]:
    """(N,) of the records, and (C,) of labels that are there, where they are weighted."""
    even = np.ones(len(learned), np.float32)
    if config.labels.weights == "equal":
        return even, None
    if config.task == "multilabel":
        there = learned.sum(0)
        return even, ((len(learned) - there) / np.maximum(there, 1)).clip(1e-3, 1e3).astype(np.float32)
    sizes = np.bincount(learned, minlength=classes)
    return (len(learned) / ((sizes > 0).sum() * sizes[learned])).astype(np.float32), None


def _rule(held: np.ndarray, groups: Groups, noun: str, *, stratified: bool) -> str:
    if not held.any():
        return "nothing"
    records = f"{int(held.sum()):,} of {count(len(held), noun)}"
    all_groups, chosen = np.unique(groups.of), np.unique(groups.of[held])
    if len(all_groups) == len(held):
        return f"{records}, of each class alike" if stratified else records
    some = ", ".join(groups.names[g] for g in chosen[:5].tolist()) + (" …" if len(chosen) > 5 else "")
    return f"{records}, in {len(chosen):,} of {len(all_groups):,} groups: {some}"
