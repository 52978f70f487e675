"""A comparison: every model learns every task, some side by side in processes of their own, and then is measured."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import torch

from longseq import __version__
from longseq.config import to_mapping
from longseq.errors import ConfigError, LongseqError
from longseq.log import NullProgress, Progress
from longseq.results.compare import BASES, Compare, CompareMachine, Cost
from longseq.results.run import Run, peak_rss_mb
from longseq.tasks.bench.config import cores
from longseq.tasks.bench.machine import load, processor
from longseq.tasks.bench.worker import Worker, WorkerDiedError
from longseq.tasks.compare.config import CompareConfig
from longseq.tasks.compare.cost import Costs
from longseq.tasks.compare.kept import COST, Kept
from longseq.tasks.compare.lesson import Found, Job, Learner, Lesson
from longseq.tasks.compare.shapes import shape

TRIAL = 20
"""Steps of a run of which one is on trial."""
UPDATE = 1.35
"""A step with its update and its share of evaluations, by one on trial without."""
START = 6.0
"""Seconds in which a lesson begins and ends."""
RESERVE = 6.0
"""Seconds of each model kept for what it costs."""


def compare(
    config: CompareConfig,
    *,
    command: str = "longseq compare",
    progress: Progress | None = None,
    folder: Path | None = None,
    force: bool = False,
) -> tuple[Compare, Callable[[], None]]:
    """Let all models learn, and measure them; also what to call once the result is written, which removes `folder`.

    All models learn from the same data in the same order for as many steps: they differ in their mixers, and in the
    width of the feed-forward network by which they have like many parameters.

    Args:
        folder: Where what is done is kept, and taken up by the next call with the same settings; None: nowhere.
        force: Start anew there.

    Raises:
        ConfigError: a model that cannot be built, or no input for a task that needs one.
        OutputExistsError, StateError, UsageError: as `Kept` does.
        LongseqError: a process ended.
    """
    progress = progress or NullProgress()
    began, load_before = time.monotonic(), load()
    if BASES in config.tasks and not config.inputs:
        raise ConfigError(where="inputs", expected="a sequence file whose bases are foretold", found="none")
    shapes = {model: shape(model, config) for model in config.models}
    kept = Kept(folder, config, __version__, force=force)
    progress.start("compare", len(config.models) * (len(config.tasks) + 1), "part")
    try:
        with tempfile.TemporaryDirectory(prefix="longseq-compare-") as scratch:
            if BASES in config.tasks:
                Lesson(Job(model=config.models[0], task=BASES, config=config, steps=TRIAL, scratch=scratch)).prepare()
            steps = kept.steps() or _steps(config, scratch, began)
            kept.keep_steps(steps)
            found = _learn(config, steps, scratch, kept, progress)
        costs = [_cost(config, model, shapes[model], kept, progress) for model in config.models]
    except BaseException:
        kept.release()
        raise
    finally:
        progress.finish()
    learned = [found[task, model].learned for task in config.tasks for model in config.models]
    seconds, tokens = kept.seconds(), sum(one.tokens for one in learned)
    result = Compare(
        run=Run(
            version=__version__,
            command=command,
            threads=1,
            tokens=tokens,
            seconds=seconds,
            tokens_per_s=tokens / seconds,
            peak_rss_mb=peak_rss_mb(),
        ),
        machine=CompareMachine(processor=processor(), cores=cores(), torch=torch.__version__, load_before=load_before),
        config={**to_mapping(config), "steps": dict(steps)},
        tasks=[found[task, config.models[0]].facts for task in config.tasks],
        learned=learned,
        costs=costs,
    )
    return result, kept.remove


def _steps(config: CompareConfig, scratch: str, began: float) -> dict[str, int]:
    """Of each task: what it says, or what its share of the time allows for, by a step of each model on trial."""
    open_ = [task for task in config.tasks if not config.task(task).steps]
    jobs = [
        Job(model=model, task=task, config=config, steps=TRIAL, scratch=scratch)
        for task in open_
        for model in config.models
    ]
    seconds = dict(_side_by_side(config, jobs, "step_seconds")) if jobs else {}
    lessons = len(config.models) * len(config.tasks)
    width = min(config.jobs or cores(), lessons)
    left = 60 * config.minutes - (time.monotonic() - began) - RESERVE * len(config.models) - START * lessons / width
    share = max(left, 0.0) * width / max(len(config.tasks), 1)
    found = {}
    for task in config.tasks:
        whole = UPDATE * sum(one for job, one in seconds.items() if job.task == task)
        found[task] = config.task(task).steps or max(_round(share / whole), TRIAL)
    return found


def _round(steps: float) -> int:
    """To two figures, downwards."""
    unit = 10 ** max(len(str(int(steps))) - 2, 0)
    return int(steps) // unit * unit


def _learn(
    config: CompareConfig, steps: Mapping[str, int], scratch: str, kept: Kept, progress: Progress
) -> dict[tuple[str, str], Found]:
    found: dict[tuple[str, str], Found] = {}
    jobs = []
    for task in config.tasks:
        for model in config.models:
            done = kept.load(Found, task, model)
            if done is None:
                jobs.append(Job(model=model, task=task, config=config, steps=steps[task], scratch=scratch))
            else:
                found[task, model] = done
                progress.advance(1)
    for job, result in _side_by_side(config, jobs, "learn"):
        kept.keep(result, job.task, job.model)
        found[job.task, job.model] = result
        progress.advance(1, last=f"{job.model}, {job.task}")
    return found


def _side_by_side(config: CompareConfig, jobs: Sequence[Job], method: str) -> Iterator[tuple[Job, Any]]:
    """Each job and what came of it, as they end."""
    waiting, busy = list(jobs), dict[Worker, Job]()
    workers = [Worker(Learner) for _ in range(min(len(jobs), config.jobs or cores()))]
    idle = list(workers)
    try:
        while waiting or busy:
            while waiting and idle:
                worker = idle.pop()
                busy[worker] = waiting.pop(0)
                worker.begin(method, busy[worker])
            places = {worker.fileno(): worker for worker in busy}
            for worker in [places[place] for place in wait([*places]) if isinstance(place, int)]:
                job = busy.pop(worker)
                try:
                    answer = worker.answer()
                except WorkerDiedError as error:
                    raise LongseqError(f"{job.model}, {job.task}: {error}") from None
                idle.append(worker)
                yield job, answer
    finally:
        for worker in workers:
            worker.close()


def _cost(config: CompareConfig, model: str, made: Any, kept: Kept, progress: Progress) -> Cost:
    """One model at a time, so that none disturbs another."""
    cost = kept.load(Cost, COST, model)
    if cost is None:
        with Worker(Costs, made) as worker:
            try:
                rows = [worker.ask("row", length) for length in sorted(set(config.lengths))]
            except WorkerDiedError as error:
                raise LongseqError(f"{model}: {error}") from None
        cost = Cost(model=model, rows=tuple(rows))
        kept.keep(cost, COST, model)
    progress.advance(1, last=f"{model}, costs")
    return cost
