"""The loop: try a step, step, evaluate, save, go on.

A step is a function of the parameters, the carried state and its number. So a run that was stopped and resumed is, bit
for bit on the CPU with the same number of threads, the run that was not.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from longseq.config import to_mapping
from longseq.errors import StoppedError
from longseq.log import Progress, memory
from longseq.model import LanguageModel, save
from longseq.tokens import DnaTokenizer
from longseq.training import checkpoint, limit, nonfinite
from longseq.training.card import card
from longseq.training.carried import pack, unpack
from longseq.training.checkpoint import Position
from longseq.training.config import TrainConfig
from longseq.training.device import peak_memory, sum_over
from longseq.training.evaluate import evaluate
from longseq.training.journal import Journal
from longseq.training.objective import NextTokenLoss
from longseq.training.optimiser import rate
from longseq.training.plan import Outcome, Plan, last_step, notes
from longseq.training.rundir import RunDirectory
from longseq.training.signals import StopRequest
from longseq.training.split import split
from longseq.training.steps import Ahead, Steps
from longseq.training.store import Store
from longseq.training.update import Update
from longseq.training.windows import Batch, Windows

if TYPE_CHECKING:
    from accelerate import Accelerator


class Loop:
    def __init__(
        self,
        config: TrainConfig,
        folder: RunDirectory,
        processes: Accelerator,
        store: Store,
        tokenizer: DnaTokenizer,
        last: Path | None,
        began: float,
    ):
        """A run at its start, or at the checkpoint `last`; `began` is the clock when the program took it up."""
        self.config, self.folder, self.processes = config, folder, processes
        self.store, self.tokenizer = store, tokenizer
        self.split = split(store, config.data)
        size = max(config.batch // config.data.window, processes.num_processes)
        windows = Windows(store, self.split.train, config.data)
        self.steps = Steps(windows, size, processes.process_index, processes.num_processes)
        saved: dict[str, Any] = {}
        if last is None:
            self.model, self.position = LanguageModel(config.model).train(), Position()
        else:
            self.model, self.position, saved = checkpoint.load_step(last)
            checkpoint.same_run(self.position, config, store.digest, processes.num_processes)
        self.objective = NextTokenLoss(self.model)
        self.update = Update(self.objective, config.optimiser, processes, config.data.seed, saved.get("optimiser"))
        self.step, self.tokens = self.position.step, self.position.tokens
        self.state = None
        """What the windows of the last step left behind, where the next one takes it up."""
        if saved:
            self.state = unpack(saved["states"], self.objective, self.steps.batch(self.step).ids, processes)
        self._began = began - self.position.seconds
        self._saved_at = self._resumed_at = self.step if saved else -1
        self._evaluation_seconds = 0.0

    def seconds(self) -> float:
        """Wall time, over all resumes."""
        return time.monotonic() - self._began

    def plan(self) -> Plan:
        """Time a step on the next batch, without its update.

        Raises:
            ConfigError: no step is done yet, and `minutes` are too few for one.
        """
        config = self.config
        batch = self.steps.batch(self.step)
        began = 0.0
        for _ in range(2):  # the first pays for what is made once
            began = time.monotonic()
            self.update.gradients(self.step, batch, float(batch.weight.sum()))
            self.update.drop()
        step_seconds, size = self._of_first(time.monotonic() - began), self.steps.size * self.steps.windows.width
        scored = min(config.evaluation.tokens, self.split.held_out.bases)
        self._evaluation_seconds = 0.5 * step_seconds * scored / size  # forward only; measured once there is one
        spent = self._of_first(self.seconds())
        if self.step == 0:
            limit.require_a_step(config.minutes, self._evaluation_seconds, spent, step_seconds)
        parameters = sum(p.numel() for p in self.model.parameters() if p.requires_grad)
        return Plan(
            parameters=parameters,
            bases=self.split.train.bases,
            held_out=self.split.rule,
            batch=size,
            steps=last_step(config, self.steps.per_epoch),
            first_step=self.step,
            minutes=config.minutes,
            spent=spent,
            step_seconds=step_seconds,
            memory_mib=peak_memory(self.processes.device) + 2 * 4 * parameters / 2**20,
            device=self.processes.device.type,
            precision=config.precision,
            threads=torch.get_num_threads(),
            processes=self.processes.num_processes,
            notes=notes(self.store, self.split, config.data),
        )

    def go(self, plan: Plan, progress: Progress) -> Outcome:
        """Step to the end of the plan, or to a stop."""
        journal = Journal(self.folder.metrics, self.step) if self.processes.is_main_process else None
        ahead = Ahead(self.steps.batch)
        progress.start("train", plan.tokens, "token")
        try:
            with StopRequest() as stop:
                stopped = False
                while not stopped and (plan.steps is None or self.step < plan.steps):
                    batch = ahead.get(self.step)
                    scored, stopped, over = self._agree(batch, stop)
                    if stopped or (over >= 1 and self.step):  # never a model without a step
                        break
                    done = max(over, (self.step + 1) / (plan.steps or math.inf))
                    facts = self._step(batch, scored, rate(self.config.optimiser, done))
                    if journal:
                        journal.write(self.step, **facts)
                    progress.advance(plan.batch, **self._shown(facts))
                    if _due(self.step, self.config.evaluation.every):
                        stopped = self._evaluate(journal, stop)
                    if _due(self.step, self.config.checkpoint.every):
                        self._save()
                if not stopped:
                    stopped = self._evaluate(journal, stop)
                self._save()
                if stopped:
                    self._give_way(stop)
            return self._finish()
        finally:
            progress.finish()
            ahead.close()
            if journal:
                journal.close()

    def _agree(self, batch: Batch, stop: StopRequest) -> tuple[float, bool, float]:
        """Tokens scored in all processes, whether any was asked to stop, the share of the time that is over."""
        over = limit.share(self.config.minutes, self._evaluation_seconds, self.seconds())
        scored, stops = sum_over(self.processes, float(batch.weight.sum()), stop.name is not None)
        return scored, stops > 0, self._of_first(over)

    def _of_first(self, value: float) -> float:
        """The value in the first process: one clock for all."""
        return sum_over(self.processes, value if self.processes.is_main_process else 0.0)[0]

    def _step(self, batch: Batch, scored: float, learning_rate: float) -> dict[str, float]:
        """One update, and what there is to say about it."""
        began = time.monotonic()
        state = None if self.steps.fresh(self.step) else self.state
        nats, after = self.update.gradients(self.step, batch, scored, state)
        norm = self.update.norm()
        loss = sum_over(self.processes, nats)[0] / max(scored, 1.0)
        if not (math.isfinite(loss) and math.isfinite(norm)):
            self._not_finite(loss, norm)
        self.update.apply(learning_rate)
        self.step, self.tokens = self.step + 1, self.tokens + round(scored)
        self.state = None if self.steps.fresh(self.step) else after
        return {
            "epoch": round(self.step / self.steps.per_epoch, 4),
            "tokens": self.tokens,
            "bits_per_base": loss / math.log(2),
            "learning_rate": learning_rate,
            "gradient_norm": norm,
            "tokens_per_s": round(scored / (time.monotonic() - began), 1),
            "memory_mib": round(peak_memory(self.processes.device), 1),
            "seconds": round(self.seconds(), 3),
        }

    def _evaluate(self, journal: Journal | None, stop: StopRequest) -> bool:
        """Score what is held out, unless that was done after this very step; true if a stop came in between."""
        if self.position.held_out_step == self.step or not self.split.held_out.bases:
            return False
        began = time.monotonic()
        config = self.config
        windows = Windows(self.store, self.split.held_out, config.data, shuffle=False)
        lanes = max(self.steps.size // self.processes.num_processes, 1)
        found = evaluate(
            self.objective,
            windows,
            self.processes,
            tokens=config.evaluation.tokens,
            lanes=lanes,
            stop=lambda: stop.name is not None,
        )
        self._evaluation_seconds = time.monotonic() - began
        if found is None:
            return True
        self.position = replace(self.position, held_out_step=self.step, held_out_bits=found.bits_per_base)
        self._saved_at = -1  # a checkpoint of this step does not know it yet
        if journal:
            journal.write(self.step, held_out_bits_per_base=found.bits_per_base, held_out_tokens=found.tokens)
        return False

    def _save(self) -> None:
        """A checkpoint of this step, if there is none yet."""
        if self._saved_at == self.step:
            return
        self._saved_at = self.step
        states = pack(self.state, self.processes)
        self.position = replace(
            self.position,
            step=self.step,
            tokens=self.tokens,
            seconds=self.seconds(),
            data=self.store.digest,
            processes=self.processes.num_processes,
            config=json.dumps(to_mapping(self.config)),
        )
        if self.processes.is_main_process:
            checkpoint.save_step(
                self.folder.checkpoints,
                self.position,
                self.model,
                self.tokenizer,
                self.update.state(),
                states,
                self._card(),
                self.config.checkpoint.keep,
            )
        self.processes.wait_for_everyone()

    def _give_way(self, stop: StopRequest) -> None:
        if stop.name == "SIGINT":
            raise KeyboardInterrupt(
                f"{self.folder.path}: interrupted, saved after step {self.step:,}; --resume goes on"
            )
        asked = stop.name or "a signal to another process"
        raise StoppedError(
            f"stopped by {asked} after step {self.step:,}; all of it is saved",
            where=str(self.folder.path),
            remedy="--resume goes on",
        )

    def _not_finite(self, loss: float, norm: float) -> None:
        """The parameters are still those of the step before: save them, say where the batch came from, stop."""
        if all(bool(p.isfinite().all()) for p in self.model.parameters()):
            self._save()
        everyone = Steps(self.steps.windows, self.steps.size)
        if self.processes.is_main_process:
            nonfinite.write(self.folder, everyone, self.step, loss, norm)
        saved = checkpoint.latest(self.folder.checkpoints) is not None
        resumed = self.step == self._resumed_at
        raise nonfinite.error(self.folder, everyone, self.step, loss, norm, saved=saved, resumed=resumed)

    def _finish(self) -> Outcome:
        if self.processes.is_main_process:
            save(self.folder.model, self.model, self.tokenizer, card=self._card(), force=True)
        self.processes.wait_for_everyone()
        return Outcome(
            step=self.step,
            tokens=self.tokens,
            seconds=self.seconds(),
            held_out_bits=self.position.held_out_bits,
            model=self.folder.model,
        )

    def _card(self) -> dict[str, object]:
        return card(
            self.config,
            self.store,
            self.split,
            step=self.step,
            tokens=self.tokens,
            held_out_bits=self.position.held_out_bits,
            held_out_step=self.position.held_out_step,
        )

    def _shown(self, facts: dict[str, float]) -> dict[str, str]:
        shown = {"bits": f"{facts['bits_per_base']:.4f}"}
        if self.position.held_out_bits is not None:
            shown["held out"] = f"{self.position.held_out_bits:.4f}"
        return shown | {"rate": f"{facts['learning_rate']:.2e}", "memory": memory(facts["memory_mib"])}


def _due(step: int, every: int) -> bool:
    return every > 0 and step % every == 0
