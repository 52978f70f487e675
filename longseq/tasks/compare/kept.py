"""What a comparison has done so far, a file each: a run that was stopped goes on with what is left."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from longseq.config import from_mapping, to_mapping
from longseq.errors import ConfigError, StateError
from longseq.formats.jsonfile import parsed, write_json
from longseq.model.mixers import MIXERS
from longseq.tasks.compare.config import TASKS, CompareConfig
from longseq.tasks.working import ANEW, SETTINGS, Folder, Owner

RUN_SCHEMA = "longseq.compare.run/1"
STEPS, SPENT = "steps.json", "spent.json"
COST = "cost"
T = TypeVar("T")

COMPARE = Owner(
    "compare",
    RUN_SCHEMA,
    (SETTINGS, STEPS, SPENT, *(f"{what}-{model}.json" for what in (*TASKS, COST) for model in MIXERS)),
)


class Kept:
    """The working folder of one run, taken; or, without one, nothing."""

    def __init__(self, folder: Path | None, config: CompareConfig, version: str, *, force: bool):
        """Goes on with what a run of the same settings left there, unless `force`.

        Raises:
            OutputExistsError: another run is writing there.
            StateError: it was begun with other settings, or inputs that have changed since.
            UsageError: what stands there is not ours.
        """
        self._began, self._before = time.monotonic(), 0.0
        self._folder = None if folder is None else Folder(folder, COMPARE)
        if self._folder is None:
            return
        settings = {"schema": RUN_SCHEMA, "version": version, **dict(_flat(to_mapping(config))), **_inputs(config)}
        place = self._folder.path / SETTINGS
        try:
            self._folder.begin(place, settings, resume=not force, force=force)
            if not place.exists():
                write_json(place, settings, force=True, given=False)
            self._before = (self._read(SPENT) or {}).get("seconds", 0.0)
        except BaseException:
            self.release()  # a second call of this process may start anew
            raise

    def seconds(self) -> float:
        """Wall time of this run, and of those that it goes on with up to the last thing that they kept."""
        return self._before + time.monotonic() - self._began

    def steps(self) -> dict[str, int] | None:
        """Of each task, as they were settled when the run began; None: not yet."""
        found = self._read(STEPS)
        return None if found is None else {str(name): int(steps) for name, steps in found.items()}

    def keep_steps(self, steps: Mapping[str, int]) -> None:
        self._write(STEPS, dict(steps))

    def load(self, kind: type[T], what: str, model: str) -> T | None:
        """What is done of `what`, a task or `COST`; None: it is not.

        Raises:
            StateError: the file is damaged.
        """
        name = f"{what}-{model}.json"
        found = self._read(name)
        if found is None:
            return None
        try:
            return from_mapping(kind, found)
        except (ConfigError, TypeError) as error:
            assert self._folder is not None
            where = str(self._folder.path / name)
            raise StateError(where=where, expected="what a run has kept", found=str(error), remedy=ANEW) from None

    def keep(self, result: Any, what: str, model: str) -> None:
        self._write(f"{what}-{model}.json", asdict(result))
        self._write(SPENT, {"seconds": self.seconds()})

    def release(self) -> None:
        if self._folder is not None:
            self._folder.release()

    def remove(self) -> None:
        """All of it: the result stands elsewhere by now."""
        if self._folder is not None:
            self._folder.remove()

    def _read(self, name: str) -> dict[str, Any] | None:
        if self._folder is None:
            return None
        path = self._folder.path / name
        try:
            found = parsed(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StateError(where=str(path), expected="what a run has kept", found=str(error), remedy=ANEW) from None
        if not isinstance(found, dict):
            raise StateError(where=str(path), expected="a JSON object", found=type(found).__name__, remedy=ANEW)
        return found

    def _write(self, name: str, document: Any) -> None:
        if self._folder is not None:
            write_json(self._folder.path / name, document, force=True, given=False)


def _flat(tree: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in tree.items():
        found += _flat(value, f"{path}{name}.") if isinstance(value, Mapping) else [(path + name, value)]
    return [(name, list(value) if isinstance(value, tuple) else value) for name, value in found if name != "jobs"]


def _inputs(config: CompareConfig) -> dict[str, Any]:
    """Size and time of each input, by which one that has changed is known."""
    found = {}
    for name in config.inputs:
        path = Path(name)
        if path.is_file():
            stat = path.stat()
            found[f"size and time of {name}"] = [stat.st_size, stat.st_mtime_ns]
    return found
