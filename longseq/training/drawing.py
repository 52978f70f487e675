"""The learning curve of a run, drawn at its end from its journal."""

from __future__ import annotations

import logging
from pathlib import PurePath

from longseq.formats.atomic import write_aside
from longseq.training.config import TrainConfig
from longseq.training.journal import read_lines
from longseq.training.rundir import RunDirectory
from longseq.training.tasks import Task

log = logging.getLogger("longseq")

BESIDE = {"classify": "accuracy", "annotate": "accuracy", "multilabel": "auprc", "seq2seq": "exact_match"}
"""A held-out figure that is shown beside the main one: that whose value without a model is known."""
NAMED, SHOWN = 3, 90
"""Inputs that are named, and letters of a line of the title."""


def draw(folder: RunDirectory, config: TrainConfig, task: Task) -> None:
    """Write `curve.png`. That it cannot be drawn is a warning: the run is worth more than its picture."""
    try:
        from longseq.report.plots.curve import curve

        learned = next(iter(task.learned(0.0)))
        picture = curve(
            read_lines(folder.metrics),
            title=title(config, task),
            learned=learned,
            held_out=[task.main, *(BESIDE[name] for name in BESIDE if name == config.task)],
            unit={"loss": "squared error" if config.task == "regress" else "nats"}.get(learned, ""),
        )
        with write_aside(folder.curve, force=True, given=False) as aside:
            aside.write_bytes(picture)
    except Exception as error:
        log.warning("%s: no learning curve is drawn: %s", folder.curve, str(error) or type(error).__name__)


def title(config: TrainConfig, task: Task) -> str:
    """Task and inputs, and what they hold."""
    names = [PurePath(name).name for name in config.inputs]
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    of = [f"{config.task}: {', '.join(names[:NAMED])}{more}"] if names else []  # a caller's own task has none
    return "\n".join(map(_cut, [*of, task.described]))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 2] + " …"
