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
from longseq.training.holding_out import hold_out
from longseq.training.painting import Painting
from longseq.training.store import Store
from longseq.training.tasks import figures
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
        groups = sorted({self.records.ids[r] for r in kept})
        held = hold_out(
            np.array([groups.index(self.records.ids[r]) for r in kept]),
            groups,
            lengths[kept],
            np.zeros(len(kept), np.int64),
            share=labels.held_out,
            named=labels.held_out_groups,
            seed=config.data.seed,
        )
        self.sizes = self.painting.counts(kept[~held].tolist(), lengths)
        self.train = self._examples(kept[~held], shuffle=True).ask(self.painting, self._weights())
        self.held_out, self.chosen, self.to_score = None, np.zeros(0, np.int64), 0
        if held.any():
            held_out = self._examples(kept[held], shuffle=False)
            self.held_out = held_out.ask(self.painting, np.ones(len(self.names)))
            self.chosen = self.choose(self.held_out)
        self.bases = self.train.bases
        shares = ", ".join(
            f"{name} {size / self.sizes.sum():.1%}" for name, size in zip(self.names[:6], self.sizes, strict=False)
        )
        more = " …" if len(self.names) > 6 else ""
        self.described = f"{count(self.bases, 'base')} of {len(self.names)} classes ({shares}{more})"
        held_names = ", ".join(self.records.ids[r] for r in kept[held][:5]) + (" …" if held.sum() > 5 else "")
        bases = int(lengths[kept[held]].sum())
        self.rule = (
            f"{int(held.sum()):,} of {len(kept):,} records, {bases:,} bases: {held_names}" if held.any() else "nothing"
        )
        self.told = self._notes(bare)

    def _notes(self, bare: list[int]) -> tuple[str, ...]:
        found = []
        if bare:
            found.append(
                f"warning: {count(len(bare), 'record')} without any interval, read as {self.names[0]}: "
                f"{self.records.ids[bare[0]]} first"
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

    def _examples(self, which: np.ndarray, *, shuffle: bool) -> BaseExamples:
        return BaseExamples(self.records, which, self.config.data, self.complement, shuffle=shuffle)

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
