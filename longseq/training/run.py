"""A training run, from files to a checkpoint directory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from longseq.config import require, to_toml
from longseq.errors import ConfigError, InputError
from longseq.formats.atomic import write_aside
from longseq.formats.paths import require_text
from longseq.log import NullProgress, Progress
from longseq.training import checkpoint, defaults, pairs, start, tasks, trial
from longseq.training.config import TrainConfig
from longseq.training.device import accelerator, alone, in_turn
from longseq.training.documents import AnyTokenizer, Documents, prepare
from longseq.training.loop import Loop
from longseq.training.plan import Outcome, Plan
from longseq.training.rundir import RunDirectory
from longseq.training.store import Store
from longseq.training.tasks import Task
from longseq.training.tasks import documents as words


def train(
    config: TrainConfig,
    out: str | Path,
    *,
    resume: bool = False,
    force: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    announce: Callable[[Plan], None] = lambda plan: None,
    task: Callable[[TrainConfig], Task] | None = None,
) -> Outcome:
    """Train a model on sequence files, to foretell bases or labels (`config.task`), on documents, to foretell tokens
    (`config.data.tokenizer`), or on pairs of texts, and leave it in `out`/model.

    `resume` goes on from the latest checkpoint in `out`, or starts where there is none; `force` starts anew. A dry run
    reads the inputs, builds the model, times a step and makes one, and leaves nothing behind. `announce` is called with
    the plan before the first step, in the first of many processes only. `task` makes a task of the caller's own, which
    has its data already; no input is read then.

    Raises:
        OutputExistsError: `out` holds a run and neither `resume` nor `force` is set, or something else.
        UsageError: `out` cannot be made, an input is a stream, or a path is not valid Unicode.
        InputError: an input that cannot be read, or no bases to learn from.
        ConfigError: a resumed run of another model, other data or another batch; `minutes` too few for one step.
        StoppedError: TERM or USR1 came; the step was finished and saved. Ctrl-C does the same and is raised on.
        LongseqError: the loss or a gradient is no number, or a checkpoint cannot be written; the last good one is kept.
    """
    began = time.monotonic()
    require_text(str(out))
    folder = RunDirectory(out)
    folder.check(resume=resume, force=force)
    if task is None and not config.inputs:
        raise ConfigError(where="inputs", expected="sequence files", found="none", remedy="name some")
    if task is None and config.start is None:
        rank = config.adapter.rank
        require(rank == 0, "adapter.rank", rank, "0 without a model to start from")
    labels = config.labels.file
    if task is None and labels is not None and not Path(labels).exists():
        found = f"no file {labels!r}"
        raise InputError(where="labels.file", expected="a table, or intervals of the inputs", found=found)
    processes = accelerator(config, folder.trackers)
    if progress is None or not processes.is_main_process:
        progress = NullProgress()
    config = start.with_words(config)
    tokenizer = words.tokenizer_of(config)
    with tempfile.TemporaryDirectory() as scratch, folder:
        cache = Path(config.data.cache) if config.data.cache else None
        data = Path(scratch) if dry_run else cache or folder.data
        try:
            if not dry_run:  # where each process has a scratch directory of its own
                alone(processes, folder.take)
            last = checkpoint.pointed(folder.checkpoints, "latest") if resume else None
            if task is None:
                # What a run began with lies beside it, so that other data are known before they are read.
                fixed = last is not None and data == folder.data and data.is_dir() and any(data.iterdir())
                store = in_turn(processes, lambda: _data(config, data, tokenizer, progress, cache, fixed))
                if isinstance(store, pairs.Pairs):
                    tokenizer = store.tokenizer
                config = words.fitted(start.resolve(config, last), tokenizer)
                lengths = store.stretches.length
                config = defaults.settled(config, int(lengths.max(initial=1)), int(lengths.sum()))
                made = tasks.make(config, store)
            else:
                config = defaults.settled(start.resolve(config, last), config.data.window, config.data.window)
                made = task(config)
            loop = Loop(config, folder, processes, made, last, began)
            plan = trial.plan(loop)
            plan = trial.tried(loop, plan) if dry_run else plan
        except BaseException:
            if processes.is_main_process:
                folder.tidy()
            raise
        if processes.is_main_process:
            announce(plan)
        if dry_run:
            return Outcome(step=0, tokens=0, seconds=loop.seconds(), model=None)
        alone(processes, lambda: _begin(folder, config, anew=last is None))
        return loop.go(plan, progress)


def _data(
    config: TrainConfig, folder: Path, tokenizer: AnyTokenizer, progress: Progress, look: Path | None, fixed: bool
) -> Store | Documents | pairs.Pairs:
    if config.task == "seq2seq":
        return pairs.prepare(config, folder, progress, look, fixed=fixed)
    return prepare(config.inputs, folder, tokenizer, progress, look, config.data.text, fixed=fixed)


def _begin(folder: RunDirectory, config: TrainConfig, anew: bool) -> None:
    if anew:
        folder.clear()
    with write_aside(folder.config, force=True, given=False) as aside:
        aside.write_text(to_toml(config), encoding="utf-8")
