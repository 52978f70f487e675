"""What a run learns: one object a task, which knows its data, its model, its loss and its figures."""

from __future__ import annotations

from longseq.training.config import TrainConfig
from longseq.training.store import Store
from longseq.training.tasks.base import Figures, Task

__all__ = ["Figures", "Task", "make"]


def make(config: TrainConfig, store: Store) -> Task:
    """The task that `config.task` names, on the records of a store.

    Raises:
        ConfigError: a setting that does not fit the data.
        InputError: nothing to learn from.
    """
    from longseq.training.tasks.next_token import NextTokenTask

    return NextTokenTask(config, store)
