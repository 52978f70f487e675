"""A class of every base."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from longseq.errors import InputError
from longseq.log import count
from longseq.metrics.classes import confusion
from longseq.model import HeadConfig
from longseq.training.config import TrainConfig
from longseq.training.device import gather, sum_over
from longseq.training.examples import BaseExamples
from longseq.training.grouping import groups_of
from longseq.training.holding_out import hold_out
from longseq.training.painting import Painting
from longseq.training.split import Split, require_two, within
from longseq.training.store import Store
from longseq.training.tasks import figures, telling
from longseq.training.tasks.base import Figures
from longseq.training.tasks.labelled import LabelledTask
from longseq.training.tasks.losses import TokenLoss

if TYPE_CHECKING:
    from accelerate import Accelerator


class BaseTask(LabelledTask):
    def __init__(self, config: TrainConfig, store: Store):
        super().__init__(config, store)
        lengths, labels = self.records.lengths, config.labels
        self.painting = Painting(self.records.ids, lengths, labels)
        self.names = self.painting.names
        kept = np.flatnonzero(lengths > 0)
        bare = [int(r) for r in kept if not self.painting.annotated(int(r))]
        if bare and labels.unlabelled == "error":
            raise InputError(
                where=labels.file,
                expected="intervals in every record",
                found=f"none in {count(len(bare), 'record')}, {self.records.ids[bare[0]]} first",
                remedy="labels.unlabelled=skip reads them as background",
            )
        which, held, (first, last) = self._divide(kept)
        self.sizes = self.painting.counts(zip(which[~held], first[~held], last[~held], strict=True))
        telling.require_classes(self.sizes, self.names, labels.file, "base")
        self.train = self._examples(which[~held], (first[~held], last[~held]), shuffle=True)
        self.train.ask(self.painting, self._weights())
        self.held_out, self.chosen, self.to_score = None, np.zeros(0, np.int64), 0
        if held.any():
            held_out = self._examples(which[held], (first[held], last[held]), shuffle=False)
            self.held_out = held_out.ask(self.painting, np.ones(len(self.names)))
            self.chosen = self.choose(self.held_out)
        self.bases = self.train.tokens
        shares = ", ".join(
            f"{name} {size / self.sizes.sum():.1%}" for name, size in zip(self.names[:6], self.sizes, strict=False)
        )
        more = " …" if len(self.names) > 6 else ""
        self.described = f"{count(self.bases, 'base')} of {len(self.names)} classes ({shares}{more})"
        train, out = (
            within(self.store.stretches, which[part], first[part], last[part], len(lengths)) for part in (~held, held)
        )
        self.parts = Split(train, out, self.rule, groups_of(store, config.data))
        sizes = self.painting.counts(zip(which[held], first[held], last[held], strict=True))
        self.told = (*self._notes(bare), *telling.notes_on_held_out(sizes, self.names, "base"))

    def _divide(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Stretches to learn from and held-out ones: records (N,), whether held out (N,), and their first and last
        letters; sets `rule`. Of a single id the end of each record is held out."""
        labels, groups = self.config.labels, groups_of(self.store, self.config.data)
        first, last = np.zeros_like(kept), self.records.lengths[kept]
        if labels.held_out and self.config.data.groups != "record":
            require_two(groups, np.bincount(groups.of[kept], last))
        held = hold_out(
            groups.of[kept],
            groups.names,
            last,
            np.zeros(len(kept), np.int64),
            share=labels.held_out,
            named=self.config.data.held_out_groups,
            seed=self.config.data.seed,
        )
        if held.any() or not labels.held_out:
            whole = np.unique(groups.of[kept[held]])
            some = ", ".join(groups.names[g] for g in whole[:5].tolist()) + (" …" if len(whole) > 5 else "")
            told = f"{int(held.sum()):,} of {len(kept):,} records, {int(last[held].sum()):,} bases: {some}"
            self.rule = told if held.any() else "nothing"
            return kept, held, (first, last)
        cut = last - np.floor(last * labels.held_out).astype(np.int64)
        parted = cut < last  # what is too short to be cut is learned from
        self.rule = f"the last {labels.held_out:.0%} of the record, {int((last - cut).sum()):,} bases"
        return (
            np.concatenate([kept, kept[parted]]),
            np.repeat([False, True], [len(kept), int(parted.sum())]),
            (np.concatenate([first, cut[parted]]), np.concatenate([cut, last[parted]])),
        )

    def _notes(self, bare: list[int]) -> tuple[str, ...]:
        found = [*self.painting.notes]
        if bare:
            found.append(
                f"warning: {count(len(bare), 'record')} without any interval, read as {self.names[0]}: "
                f"{self.records.ids[bare[0]]} first"
            )
        if self.painting.whole:
            whole = " and ".join(self.painting.whole)
            found.append(
                f"note: intervals of {whole} describe whole records and are left out; labels.classes takes them"
            )
        if self.painting.skipped:
            found.append(f"note: {count(self.painting.skipped, 'interval')} of records that no input holds")
        found += [
            f"warning: no base of {name} is left to learn from"
            for name, size in zip(self.names, self.sizes, strict=True)
            if not size
        ]
        return tuple(found)

    def _weights(self) -> np.ndarray:
        """(C,) of the bases of each class."""
        if self.config.labels.weights == "equal":
            return np.ones(len(self.names))
        return self.sizes.sum() / ((self.sizes > 0).sum() * np.maximum(self.sizes, 1))

    def _examples(self, which: np.ndarray, bounds: tuple[np.ndarray, np.ndarray], *, shuffle: bool) -> BaseExamples:
        data, batch = self.config.data, self.config.batch
        return BaseExamples(self.records, which, data, batch, shuffle=shuffle, bounds=bounds)

    def head(self) -> HeadConfig:
        return HeadConfig(task="annotate", outputs=len(self.names))

    def objective(self, model: Any) -> nn.Module:
        return TokenLoss(model, smoothing=self.config.labels.smoothing)

    def score(
        self, objective: nn.Module, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        """Every base of the chosen passages once, read as in training, forwards."""
        assert isinstance(objective, TokenLoss) and self.held_out is not None
        mine = self.chosen[processes.process_index :: processes.num_processes]
        table, nats, stopped = np.zeros((len(self.names),) * 2, np.int64), 0.0, False
        with torch.no_grad():
            for first in range(0, len(mine), lanes):
                numbers, state = mine[first : first + lanes].tolist(), None
                for phase in range(-(-int(self.held_out.lengths()[numbers].max()) // self.held_out.width)):
                    stopped = stopped or stop()
                    if stopped:
                        break
                    batch = self.held_out.batch(numbers, phase)
                    given = batch.on(processes.device)
                    scores, state = objective.model(given["ids"], state, given["mask"])
                    asked = given["weight"] > 0
                    logs, truth = scores[asked].float().log_softmax(-1), given["targets"][asked]
                    nats -= float(logs.gather(1, truth[:, None]).sum())
                    table += confusion(truth.cpu().numpy(), logs.argmax(-1).cpu().numpy(), len(self.names))
        nats, stops = sum_over(processes, nats, float(stopped))
        if stops:
            return None
        tables = gather(processes, {"table": torch.from_numpy(table)})
        table = np.sum([part["table"].numpy() for part in tables], axis=0)
        return figures.of_bases(table, self.names, int(self.sizes.argmax()), nats)
