"""A step on trial, before the first one: how long it takes, and what it needs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

from longseq.training import limit
from longseq.training.device import peak_memory
from longseq.training.plan import Plan, last_step

if TYPE_CHECKING:
    from longseq.training.loop import Loop


def plan(loop: Loop) -> Plan:
    """Time a step of the widest windows, without its update.

    Raises:
        ConfigError: no step is done yet, and `minutes` are too few for one.
    """
    config, processes, task = loop.config, loop.processes, loop.task
    leaks = task.leaks() if loop.step == 0 and processes.is_main_process else ()
    grown, began = loop.steps.grown, 0.0
    for step in (loop.step, max(loop.step, grown.first)):  # the first pays for what is made once
        batch = loop.steps.batch(step)
        began = time.monotonic()
        loop.update.gradients(step, batch, float(batch.weight.sum()))
        loop.update.drop()
    step_seconds, size = loop.of_first(time.monotonic() - began), grown.size * grown.source.width
    # Forward only; measured once there is one.
    loop.evaluation_seconds = 0.5 * step_seconds * task.to_score / size
    spent = loop.of_first(loop.seconds())
    if loop.step == 0:
        limit.require_a_step(config.minutes, loop.evaluation_seconds, spent, step_seconds)
    parameters = sum(p.numel() for p in loop.model.parameters() if p.requires_grad)
    frozen = sum(p.numel() for p in loop.model.parameters()) - parameters
    return Plan(
        parameters=parameters,
        frozen=frozen,
        bases=task.bases,
        data=task.described,
        held_out=task.rule,
        batch=size,
        steps=last_step(config, loop.steps),
        first_step=loop.step,
        minutes=config.minutes,
        spent=spent,
        step_seconds=step_seconds,
        memory_mib=peak_memory(processes.device) + 2 * 4 * parameters / 2**20,
        device=processes.device.type,
        precision=config.precision,
        threads=torch.get_num_threads(),
        processes=processes.num_processes,
        growth=loop.steps.said(),
        notes=(*task.notes(), *leaks),
    )
