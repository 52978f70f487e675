"""The loop: step, evaluate, save, go on.

A step is a function of the parameters, the carried state and its number. So a run that was stopped and resumed is, bit
for bit on the CPU with the same number of threads, the run that was not.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longseq.errors import LongseqError
from longseq.log import Progress, memory
from longseq.training import checkpoint, limit, start
from longseq.training.batch import Batch
from longseq.training.carried import unpack
from longseq.training.checkpoint import Position
from longseq.training.config import TrainConfig
from longseq.training.device import alone, peak_memory, raise_in_all, sum_over
from longseq.training.drawing import draw
from longseq.training.journal import Journal
from longseq.training.optimiser import rate
from longseq.training.plan import Outcome, Plan
from longseq.training.rundir import RunDirectory
from longseq.training.saving import Saving
from longseq.training.sequence import Place
from longseq.training.signals import StopRequest
from longseq.training.steps import Ahead, Steps, stages
from longseq.training.tasks import Task
from longseq.training.tracking import Tracking
from longseq.training.update import Update

if TYPE_CHECKING:
    from accelerate import Accelerator


class Loop:
    def __init__(
        self,
        config: TrainConfig,
        folder: RunDirectory,
        processes: Accelerator,
        task: Task,
        last: Path | None,
        began: float,
    ):
        """A run at its start, or at the checkpoint `last`; `began` is the clock when the program took it up."""
        self.config, self.folder, self.processes, self.task = config, folder, processes, task
        self.place = Place(processes, config.processes.sequence)
        self.steps = Steps(stages(task.train, config, self.place.lanes), self.place.lane, self.place.lanes)
        saved: dict[str, Any] = {}
        if last is None:
            self.model, position = start.first_model(config, task).train(), Position()
        else:
            self.model, position, saved = checkpoint.load_step(last)
            before = Steps(stages(task.train, config, position.processes))
            movable = self.steps.fresh(position.step) and before.sizes == self.steps.sizes
            checkpoint.same_run(position, config, task.digest, self.place.lanes, movable)
        self.model.encoder.recompute = config.recompute
        start.freeze(self.model, config, saved.get("adapters", {}))
        self.objective = self.place.share(task.objective(self.model), self.steps.carries)
        faster = task.faster(self.model)
        self.update = Update(self.objective, config, processes, saved.get("optimiser"), faster)
        self.saving = Saving(
            config, folder, processes, self.place, task, self.model, self.update, position, last is not None
        )
        self.step, self.tokens = position.step, position.tokens
        self.state = None
        """What the windows of the last step left behind, where the next one takes it up."""
        if saved:
            batch = self.steps.batch(self.step)
            self.state = unpack(saved["states"], self.objective, batch, processes, self.place.slices)
        self.journal: Journal | None = None
        """In the first process, while it goes."""
        self._began = began - position.seconds
        self.evaluation_seconds = 0.0
        """What an evaluation takes, as far as that is known."""

    def seconds(self) -> float:
        """Wall time, over all resumes."""
        return time.monotonic() - self._began

    def go(self, plan: Plan, progress: Progress) -> Outcome:
        """Step to the end of the plan, or to a stop."""
        trackers = Tracking(self.processes, self.folder, self.config, self.step)
        if self.processes.is_main_process:
            self.journal = Journal(
                self.folder.metrics, self.step, self.saving.position.held_out_step, also=trackers.log
            )
        ahead = Ahead(self.steps.batch)
        progress.start("train", plan.tokens, "token")
        try:
            with StopRequest() as stop:
                # A stop that came just before an evaluation left it to the run that goes on.
                due = self.step > 0 and _due(self.step, self.config.evaluation.every)
                stopped = due and self._evaluate(stop)
                while not stopped and (plan.steps is None or self.step < plan.steps):
                    batch = ahead.get(self.step)
                    scored, tokens, stopped, over = self._agree(batch, stop)
                    if stopped or (over >= 1 and self.step):  # never a model without a step
                        break
                    done = max(over, (self.step + 1) / (plan.steps or math.inf))
                    total = plan.total(self.step, over)
                    facts = self._step(batch, scored, tokens, rate(self.config.optimiser, done))
                    if self.journal:
                        self.journal.write(self.step, **facts)
                    progress.advance(plan.batch, total=total, **self._shown(facts))
                    if _due(self.step, self.config.evaluation.every):
                        stopped = self._evaluate(stop)
                    if _due(self.step, self.config.checkpoint.every):
                        self._save()
                if not stopped:
                    stopped = self._evaluate(stop)
                self._save()
                if not stopped:
                    self.saving.model(self.step, self.tokens)
                self._draw()
                if stopped:
                    raise stop.error(str(self.folder.path), self.step)
            return self._outcome()
        finally:
            progress.finish()
            ahead.close()
            trackers.end()
            if self.journal:
                self.journal.close()

    def _agree(self, batch: Batch, stop: StopRequest) -> tuple[float, float, bool, float]:
        """Weight and tokens in all processes, whether any was asked to stop, the share of the time that is over."""
        over = limit.share(self.config.minutes, self.evaluation_seconds, self.seconds())
        flags = stop.name is not None, self._unwritten() is not None
        sums = sum_over(self.processes, float(batch.weight.sum()), batch.tokens, *flags)
        if sums[3]:
            raise_in_all(self.processes, self._unwritten())
        slices = self.place.slices  # so many processes have each window
        return sums[0] / slices, sums[1] / slices, sums[2] > 0, self.of_first(over)

    def of_first(self, value: float) -> float:
        """The value in the first process: one clock for all."""
        return sum_over(self.processes, value if self.processes.is_main_process else 0.0)[0]

    def _step(self, batch: Batch, scored: float, tokens: float, learning_rate: float) -> dict[str, float]:
        """One update, and what there is to say about it."""
        began = time.monotonic()
        state = None if self.steps.fresh(self.step) else self.state
        nats, after = self.update.gradients(self.step, batch, scored, state)
        norm = self.update.norm()
        loss = sum_over(self.processes, nats)[0] / max(scored, 1.0)
        if not (math.isfinite(loss) and (math.isfinite(norm) or self.update.overflows)):
            error = self.saving.not_finite(self.steps, self.step, self.tokens, self.seconds(), self.state, loss, norm)
            self._draw()
            raise error
        if scored:
            self.update.apply(learning_rate)
        else:
            self.update.drop()  # nothing was asked: nothing is learned, nor forgotten by weight decay
        self.step, self.tokens = self.step + 1, self.tokens + round(tokens)
        self.state = None if self.steps.fresh(self.step) else after
        return {
            "epoch": round(self.steps.epochs(self.step), 4),
            "tokens": self.tokens,
            **self.task.learned(loss),
            "learning_rate": learning_rate,
            "gradient_norm": norm,
            "tokens_per_s": round(tokens / (time.monotonic() - began), 1),
            "memory_mib": round(peak_memory(self.processes.device), 1),
            "seconds": round(self.seconds(), 3),
        }

    def _evaluate(self, stop: StopRequest) -> bool:
        """Score what is held out, unless that was done after this very step; true if a stop came in between."""
        if self.saving.position.held_out_step == self.step or not self.task.to_score:
            return False
        began = time.monotonic()
        lanes = max(self.steps.grown.size // self.place.lanes, 1)
        with self.update.autocast():
            found = self.task.evaluate(
                self.objective, self.processes, lanes=lanes, stop=lambda: self.place.any(stop.name is not None)
            )
        self.evaluation_seconds = time.monotonic() - began
        if found is None:
            return True
        best = self.saving.found(self.step, found)
        if self.journal:
            self.journal.write(self.step, **{f"held_out_{name}": value for name, value in found.items()})
        if best:
            self._save()
        return False

    def _unwritten(self) -> LongseqError | None:
        """Why a line of the journal could not be written, if one could not."""
        return self.journal.failed if self.journal else None

    def _save(self) -> None:
        """A checkpoint of this step, if there is none yet; never one whose lines are not in the journal."""
        raise_in_all(self.processes, self._unwritten())
        self.saving.checkpoint(self.step, self.tokens, self.seconds(), self.state)

    def _draw(self) -> None:
        alone(self.processes, lambda: draw(self.folder, self.config, self.task))

    def _outcome(self) -> Outcome:
        figures = self.saving.position.figures
        return Outcome(
            step=self.step,
            tokens=self.tokens,
            seconds=self.seconds(),
            model=self.folder.model,
            figures=figures,
            held_out=self.task.said(figures) if figures else "",
        )

    def _shown(self, facts: dict[str, float]) -> dict[str, str]:
        name = next(iter(self.task.learned(0.0)))
        shown = {name.removesuffix("_per_base"): f"{facts[name]:.4f}"}
        figures = self.saving.position.figures
        if self.task.main in figures:
            shown["held out"] = f"{figures[self.task.main]:.4f}"
        return shown | {"rate": f"{facts['learning_rate']:.2e}", "memory": memory(facts["memory_mib"])}


def _due(step: int, every: int) -> bool:
    return every > 0 and step % every == 0
