"""What a run learns: one object a task, which knows its data, its model, its loss and its figures."""

from __future__ import annotations

from collections.abc import Callable

from longseq.training.config import TrainConfig
from longseq.training.documents import Documents
from longseq.training.pairs import Pairs
from longseq.training.store import Store
from longseq.training.tasks.base import Figures, Task
from longseq.training.tasks.bases import BaseTask
from longseq.training.tasks.documents import DocumentTask
from longseq.training.tasks.masked import MaskedTask, MaskedWordTask
from longseq.training.tasks.next_token import NextTokenTask
from longseq.training.tasks.pairs import PairTask
from longseq.training.tasks.records import RecordTask

__all__ = ["Figures", "Task", "make"]


def make(config: TrainConfig, store: Store | Documents | Pairs) -> Task:
    """The task that `config.task` names, on the records of a store.

    Raises:
        ConfigError: a setting that does not fit the data.
        InputError: nothing to learn from.
    """
    if isinstance(store, Pairs):
        return PairTask(config, store)
    if isinstance(store, Documents):
        words: dict[str, Callable[[TrainConfig, Documents], Task]] = {"next": DocumentTask, "masked": MaskedWordTask}
        return words.get(config.task, RecordTask)(config, store)
    kinds: dict[str, Callable[[TrainConfig, Store], Task]] = {
        "next": NextTokenTask,
        "masked": MaskedTask,
        "annotate": BaseTask,
    }
    return kinds.get(config.task, RecordTask)(config, store)
