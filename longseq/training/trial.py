"""A step on trial, before the first one: how long it takes, what it needs, and whether it learns."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from longseq.training import limit, nonfinite
from longseq.training.batch import Batch
from longseq.training.device import peak_memory, sum_over
from longseq.training.optimiser import rate
from longseq.training.plan import Plan, Tried, last_step
from longseq.training.steps import Steps

if TYPE_CHECKING:
    from longseq.training.loop import Loop

LOOKED = 16
"""Steps of which the one of most tokens is tried: where rows differ in length, those are sorted by it together."""


def plan(loop: Loop) -> Plan:
    """Time a step of as many tokens as one will have, without its update.

    Raises:
        ConfigError: no step is done yet, and `minutes` are too few for one.
    """
    config, processes, task = loop.config, loop.processes, loop.task
    leaks = task.leaks() if loop.step == 0 and processes.is_main_process else ()
    steps, grown = loop.steps, loop.steps.grown
    if loop.step < grown.first:
        _gradients(loop, loop.step, steps.batch(loop.step))  # many short windows have many states
    step, batch, share = _largest(steps, max(loop.step, grown.first))
    state = _gradients(loop, step, batch)  # pays for what is made once
    began = time.monotonic()
    _gradients(loop, step, batch, state if grown.source.carry > 1 else None)
    step_seconds = loop.of_first(share * (time.monotonic() - began))
    size = round(sum_over(processes, share * batch.size)[0] / loop.place.slices)
    # Forward only; measured once there is one.
    loop.evaluation_seconds = 0.4 * step_seconds * task.to_score / size
    spent = loop.of_first(loop.seconds())
    if loop.step == 0:
        limit.require_a_step(config.minutes, loop.evaluation_seconds, spent, step_seconds)
    last = last_step(config, steps)
    short = f"warning: the run ends before its windows are of {grown.source.width:,} tokens (data.grow)"
    parameters = sum(p.numel() for p in loop.model.parameters() if p.requires_grad)
    frozen = sum(p.numel() for p in loop.model.parameters()) - parameters
    return Plan(
        parameters=parameters,
        frozen=frozen,
        bases=task.bases,
        data=task.described,
        held_out=task.rule,
        batch=size,
        steps=last,
        per_epoch=grown.per_epoch,
        first_step=loop.step,
        minutes=config.minutes,
        spent=spent,
        step_seconds=step_seconds,
        evaluation_seconds=loop.evaluation_seconds,
        evaluated_every=config.evaluation.every,
        memory_mib=peak_memory(processes.device) + (0 if loop.step else 2 * 4 * parameters / 2**20),
        device=processes.device.type,
        precision=config.precision,
        threads=torch.get_num_threads(),
        processes=processes.num_processes,
        growth=steps.said(),
        notes=(*task.notes(), *leaks, *([short] if last is not None and last <= grown.first else [])),
    )


def _largest(steps: Steps, first: int) -> tuple[int, Batch, float]:
    """Of the steps from `first` on, one whose rows are widest, its batch, and the tokens of all by its own."""
    batches = [steps.batch(step) for step in range(first, first + LOOKED)]
    sizes = [batch.size for batch in batches]
    nth = sizes.index(max(sizes))
    return first + nth, batches[nth], sum(sizes) / len(sizes) / sizes[nth]


def _gradients(loop: Loop, step: int, batch: Batch, state: Any = None) -> Any:
    """Work out the gradients of a step, and forget them; the state after it."""
    after = loop.update.gradients(step, batch, float(batch.weight.sum()), state)[1]
    loop.update.drop()
    return after


def tried(loop: Loop, plan: Plan) -> Plan:
    """The plan, with what the next step comes to once it is made in earnest. The model is worth nothing afterwards.

    Raises:
        LongseqError: the loss or a gradient is no number.
    """
    step, update, processes = loop.step, loop.update, loop.processes
    batch, state = loop.steps.batch(step), None if loop.steps.fresh(step) else loop.state
    scored = sum_over(processes, float(batch.weight.sum()))[0] / loop.place.slices
    over = loop.of_first(limit.share(plan.minutes, loop.evaluation_seconds, loop.seconds()))
    losses = []
    for update_it in (True, False):
        nats = update.gradients(step, batch, scored, state)[0]
        loss, norm = sum_over(processes, nats)[0] / max(scored, 1.0), update.norm()
        if not (math.isfinite(loss) and (math.isfinite(norm) or update.overflows)):
            raise nonfinite.error_of_trial(loop.folder, loop.steps.of_all(), step, loss, norm)
        losses.append(loss)
        if update_it and scored:
            update.apply(rate(loop.config.optimiser, max(over, (step + 1) / (plan.steps or math.inf))))
        else:
            update.drop()
    (name, before), (_, after) = (next(iter(loop.task.learned(loss).items())) for loss in losses)
    return replace(plan, memory_mib=peak_memory(processes.device), tried=Tried(name, before, after))
