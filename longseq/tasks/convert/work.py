"""Where a conversion stands: `training/` of the checkpoint that it makes, which may be deleted once it is made.

convert.toml    what is converted and how, complete; opening.toml of a memory that is opened
stages.json     what each stage came to
texts/          the texts, as ids, by digest
transfer/       run directories of the stages
distil/
opening/
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from longseq.config import from_mapping, load, to_mapping, to_toml
from longseq.errors import CheckpointError, ConfigError, OutputExistsError, UsageError
from longseq.formats.atomic import free_directory, write_aside
from longseq.formats.jsonfile import read_json
from longseq.log import learned
from longseq.tasks.convert.settings import OpeningSettings, Settings
from longseq.tasks.convert.source import Source

FOLDER, CONVERT, OPENING = "training", "convert.toml", "opening.toml"
FREE = frozenset(
    (
        "minutes",
        "device",
        "threads",
        "precision",
        "accumulate",
        "save_every",
        "steps",
        "share",
        "rate",
        "every",
        "scored",
    )
)
"""Settings that a resumed conversion may change."""


@dataclass(frozen=True, kw_only=True)
class Begun:
    """What `convert.toml` says."""

    source: Source
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class OpeningBegun:
    """What `opening.toml` says."""

    model: str
    """The checkpoint whose memory is opened."""
    settings: OpeningSettings


@dataclass(frozen=True, kw_only=True)
class Came:
    """What a stage came to."""

    steps: int = 0
    tokens: int = 0
    """Learned from, padding aside."""
    seconds: float = 0.0
    figures: dict[str, float] = field(default_factory=dict)
    """Of texts held out; empty where there are none."""

    def line(self, said: Callable[[dict[str, float]], str], *, timed: bool = False) -> str:
        """For people; `said` does it for the figures, and seconds are there if `timed`."""
        parts = [learned(self.steps, self.tokens, self.seconds if timed else None)] if self.steps else []
        return "; ".join([*parts, said(self.figures) if self.figures else "nothing held out"])


class Work:
    def __init__(self, out: str | Path, begun: Begun | OpeningBegun):
        self.out, self._begun = Path(out), begun
        self._folder = self.out / FOLDER
        name = CONVERT if isinstance(begun, Begun) else OPENING
        self._settings, self._stages = self._folder / name, self._folder / "stages.json"
        self.texts = self._folder / "texts"

    def run(self, stage: str) -> Path:
        """The run directory of a stage."""
        return self._folder / stage

    def check(self, *, resume: bool, force: bool) -> None:
        """Raise unless a conversion may be here: nothing yet, or one and `resume` (go on) or `force` (start anew).

        Raises:
            OutputExistsError: there is something, and neither was asked for, or it is no conversion.
            ConfigError: one with other settings.
            UsageError: the directory cannot be looked into, or a launcher started several processes.
        """
        started = os.environ.get("WORLD_SIZE", "1")
        if started != "1":
            raise UsageError(
                f"a conversion runs in one process, not in {started}", remedy="start it without a launcher"
            )
        free_directory(self.out, force=True)
        if not self._settings.is_file():
            litter = _names(self.out) <= {FOLDER} and _names(self._folder) <= {self.texts.name}
            free_directory(self.out, force=force or litter)
            if not (litter or _names(self._folder) & {CONVERT, OPENING} or _names(self._folder) <= {self.texts.name}):
                raise OutputExistsError(
                    "is no conversion's, and would be replaced",
                    where=str(self._folder),
                    remedy="move it, or name another directory",
                )
        elif not (resume or force):
            raise OutputExistsError(
                "holds a conversion already",
                where=str(self.out),
                remedy="--resume goes on with it, --force starts it anew",
            )
        elif resume:
            self._require_same()

    def _require_same(self) -> None:
        then, now = (
            flat(json.loads(json.dumps(to_mapping(x)))) for x in (load(type(self._begun), self._settings), self._begun)
        )
        for key, value in now.items():
            if key.rpartition(".")[2] not in FREE and then[key] != value:
                raise ConfigError(
                    where=key.partition(".")[2] or key,
                    expected=repr(then[key]),
                    found=repr(value),
                    remedy="a resumed conversion keeps it; --force starts anew",
                )

    def begin(self, *, resume: bool) -> None:
        """Make the directory; what an earlier conversion left goes, unless it is to be gone on with.

        Raises:
            UsageError: it cannot be made.
        """
        try:
            if not resume:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot be made: {error.strerror}", where=str(self._folder)) from None

    def say(self) -> None:
        """Write down what is converted, and how."""
        with write_aside(self._settings, force=True, given=False) as aside:
            aside.write_text(to_toml(self._begun), encoding="utf-8")

    def tidy(self) -> None:
        """Remove what a conversion that could not begin has made."""
        for directory in (self.texts, self._folder, self.out):
            if directory.is_dir() and not any(directory.iterdir()):
                directory.rmdir()

    def came(self) -> dict[str, Came]:
        """What each stage came to so far, by name.

        Raises:
            CheckpointError: it cannot be read.
        """
        if not self._stages.is_file():
            return {}
        try:
            found = read_json(self._stages)
            return {name: from_mapping(Came, facts, f"{name}.") for name, facts in found.items()}
        except (OSError, ValueError, AttributeError, ConfigError) as error:
            raise CheckpointError(
                where=str(self._stages), expected="what each stage came to", found=str(error)
            ) from None

    def keep(self, came: dict[str, Came]) -> None:
        with write_aside(self._stages, force=True, given=False) as aside:
            text = json.dumps({name: asdict(facts) for name, facts in came.items()}, indent=2)
            aside.write_text(text + "\n", encoding="utf-8")


def _names(folder: Path) -> set[str]:
    """Entries of a folder, if there is one."""
    return {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()


def flat(tree: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Values by dotted key."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        found |= flat(value, f"{path}{name}.") if isinstance(value, dict) else {f"{path}{name}": value}
    return found


def forget(out: str | Path) -> None:
    """Remove `training/` of an earlier conversion, where what stands in `out` now was not trained."""
    folder = Path(out) / FOLDER
    if any((folder / name).is_file() for name in (CONVERT, OPENING)):
        shutil.rmtree(folder, ignore_errors=True)


def stage_errors(out: str | Path, layers: int) -> dict[str, list[float]]:
    """Errors of each layer's attention after each stage of the conversion that stands in `out`, by stage; of a stage
    that nothing was held out of there are none.

    Raises:
        CheckpointError: they cannot be read.
    """
    names = [f"attention_error_{n}" for n in range(1, layers + 1)]
    came = Work(out, Begun(source=Source(model=""), settings=Settings())).came()
    told = {stage: facts.figures for stage, facts in came.items() if names[0] in facts.figures}
    return {stage: [figures[name] for name in names] for stage, figures in told.items()}
