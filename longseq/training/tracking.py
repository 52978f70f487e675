"""Trackers of a run: what its journal says, shown elsewhere too. The first process alone speaks to them.

A run that goes on does so in the same log: TensorBoard is told which step comes next; the others, where a run has a
name of its own, are given the name that is kept in `trackers/runs.json`.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from longseq.config import to_mapping
from longseq.errors import ConfigError
from longseq.formats.jsonfile import write_json
from longseq.training.config import TrainConfig
from longseq.training.device import alone
from longseq.training.rundir import RunDirectory

if TYPE_CHECKING:
    from accelerate import Accelerator

log = logging.getLogger("longseq")

PROJECT = "longseq"
"""Runs of ours stand together under this name."""
NAMED = {"wandb": "name", "mlflow": "run_name"}
"""What a tracker calls the name of a run."""
KEPT: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "wandb": lambda run: {"id": run.id, "resume": "allow"},
    "mlflow": lambda run: {"run_id": run.info.run_id},
}
"""What makes a tracker go on with the run it had."""


class Tracking:
    def __init__(self, processes: Accelerator, folder: RunDirectory, config: TrainConfig, step: int):
        """Begin, or go on after step `step`.

        Raises:
            ConfigError: a tracker cannot begin; in all processes.
        """
        self._processes, self._folder = processes, folder
        self._names = config.trackers
        if self._names:
            alone(processes, lambda: self._begin(config, step))

    def _begin(self, config: TrainConfig, step: int) -> None:
        logs = self._folder.trackers
        logs.mkdir(exist_ok=True)
        runs = logs / "runs.json"
        known: dict[str, dict[str, Any]] = json.loads(runs.read_text()) if step and runs.exists() else {}
        title = self._folder.path.resolve().name
        given: dict[str, dict[str, Any]] = {name: {NAMED[name]: title} for name in self._names if name in NAMED}
        given = {name: given.get(name, {}) | known.get(name, {}) for name in self._names}
        if step and "tensorboard" in given:
            given["tensorboard"]["purge_step"] = step + 1  # what a killed run showed beyond its checkpoint
        try:
            self._processes.init_trackers(PROJECT, None if step else flat(to_mapping(config)), given)
            for tracker in self._processes.trackers:
                if tracker.name in KEPT:
                    known[tracker.name] = KEPT[tracker.name](tracker.tracker)
            write_json(runs, known, force=True, given=False)
        except Exception as error:
            raise ConfigError(
                where="trackers",
                expected=f"{', '.join(self._names)} to begin",
                found=_first_line(error),
                remedy="set up the tracker, or leave it out",
            ) from error

    def log(self, step: int, facts: Mapping[str, float | None]) -> None:
        """Show a line of the journal. What cannot be shown is a warning, and no more is shown."""
        numbers = {name: math.nan if value is None else value for name, value in facts.items()}
        self._try(lambda: self._processes.log(numbers, step=step))

    def end(self) -> None:
        """No more comes. (`Accelerator.end_training` would part the processes as well.)"""
        for tracker in self._processes.trackers:
            self._try(tracker.finish)
        self._processes.trackers.clear()

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as error:
            log.warning("trackers: nothing more is shown: %s", _first_line(error))
            self._processes.trackers.clear()


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, int | float | str]:
    """Settings by dotted key, in the kinds that all trackers take; None is left out."""
    found: dict[str, int | float | str] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        elif value is not None:
            found[f"{prefix}{name}"] = value if isinstance(value, int | float | str) else json.dumps(value)
    return found


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__
