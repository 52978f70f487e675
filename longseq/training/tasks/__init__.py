"""What a run learns: one object a task, which knows its data, its model, its loss and its figures."""

from __future__ import annotations

from longseq.training.config import TrainConfig
from longseq.training.store import Store
from longseq.training.tasks.base import Figures, Task
from longseq.training.tasks.bases import BaseTask
from longseq.training.tasks.next_token import NextTokenTask
from longseq.training.tasks.records import RecordTask

__all__ = ["Figures", "Task", "make"]


def make(config: TrainConfig, store: Store) -> Task:
    """The task that `config.task` names, on the records of a store.

    Raises:
        ConfigError: a setting that does not fit the data.
        InputError: nothing to learn from.
    """
    if config.task == "next":
        return NextTokenTask(config, store)
    return BaseTask(config, store) if config.task == "annotate" else RecordTask(config, store)
