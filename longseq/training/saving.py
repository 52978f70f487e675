"""Where a run stands, and what it leaves on the disk: a checkpoint each so many steps, the model at its end."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from longseq.config import to_mapping
from longseq.errors import LongseqError
from longseq.model import Model, save
from longseq.training import checkpoint, nonfinite
from longseq.training.card import card
from longseq.training.carried import pack
from longseq.training.checkpoint import Position
from longseq.training.config import TrainConfig
from longseq.training.device import alone
from longseq.training.rundir import RunDirectory
from longseq.training.sequence import Place
from longseq.training.steps import Steps
from longseq.training.tasks import Figures, Task
from longseq.training.update import Update

if TYPE_CHECKING:
    from accelerate import Accelerator


class Saving:
    def __init__(
        self,
        config: TrainConfig,
        folder: RunDirectory,
        processes: Accelerator,
        place: Place,
        task: Task,
        model: Model,
        update: Update,
        position: Position,
        resumed: bool,
    ):
        """`resumed`: there is a checkpoint of `position`."""
        self.position = position
        self._config, self._folder, self._processes, self._place = config, folder, processes, place
        self._task, self._model, self._update = task, model, update
        self._saved_at = self._resumed_at = position.step if resumed else -1

    def found(self, step: int, figures: Figures) -> bool:
        """Keep what an evaluation after `step` steps found; whether it is the best so far."""
        self._saved_at = -1  # a checkpoint of this step does not know it yet
        self.position = replace(self.position, held_out_step=step, figures=dict(figures))
        figure = figures[self._task.main]
        best = self._config.checkpoint.best and self._better(figure)
        if best:
            self.position = replace(self.position, best_step=step, best=figure)
        return best

    def _better(self, figure: float) -> bool:
        if self.position.best is None:
            return math.isfinite(figure)
        return figure < self.position.best if self._task.lower_is_better else figure > self.position.best

    def checkpoint(self, step: int, tokens: int, seconds: float, state: Any) -> None:
        """A checkpoint after `step` steps, if there is none yet; `state` is what its windows left behind."""
        if self._saved_at == step:
            return
        self._saved_at = step
        states = pack(state, self._processes, self._place.slices)
        self.position = replace(
            self.position,
            step=step,
            tokens=tokens,
            seconds=seconds,
            data=self._task.digest,
            processes=self._place.lanes,
            config=json.dumps(to_mapping(self._config)),
        )
        alone(
            self._processes,
            lambda: checkpoint.save_step(
                self._folder.checkpoints,
                self.position,
                self._model,
                self._task.tokenizer,
                self._task.soft_masked,
                self._update.state(),
                states,
                self._card(step, tokens),
                self._config.checkpoint.keep,
            ),
        )

    def model(self, step: int, tokens: int) -> None:
        """The trained model, in `model/`."""
        facts = self._card(step, tokens)
        tokenizer = self._task.tokenizer
        fitted = self._task.calibration(self.position.figures)
        alone(
            self._processes,
            lambda: save(
                self._folder.model,
                self._model,
                tokenizer,
                card=facts,
                calibration=fitted,
                figures=None if fitted is None else self.position.figures,
                soft_masked=self._task.soft_masked,
                force=True,
            ),
        )

    def not_finite(
        self, steps: Steps, step: int, tokens: int, seconds: float, state: Any, loss: float, norm: float
    ) -> LongseqError:
        """After step `step` comes one that gives no number, and the parameters are still those from before it: save
        them, and write down where its batch came from. What to raise of it."""
        if all(bool(p.isfinite().all()) for p in self._model.parameters()):
            self.checkpoint(step, tokens, seconds, state)
        everyone = steps.of_all()
        alone(self._processes, lambda: nonfinite.write(self._folder, everyone, step, loss, norm))
        saved = checkpoint.pointed(self._folder.checkpoints, "latest") is not None
        resumed = step == self._resumed_at
        return nonfinite.error(self._folder, everyone, step, loss, norm, saved=saved, resumed=resumed)

    def _card(self, step: int, tokens: int) -> dict[str, object]:
        position = self.position
        return card(
            self._config,
            self._task,
            step=step,
            tokens=tokens,
            figures=position.figures,
            held_out_step=position.held_out_step,
        )
