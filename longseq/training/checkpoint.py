"""What a run goes on from: a checkpoint directory each so many steps, whole or not there, and a pointer to the last
and to the best.

`checkpoints/step-00000200/` is a model that anything can load; its `training/state.pt` adds the optimiser, the step
and the carried states, and the digest of the model; beside it stands its own. No random state is kept: every step
seeds its own draws.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

from longseq.config import from_mapping, to_mapping
from longseq.errors import CheckpointError, ConfigError, LongseqError
from longseq.formats.atomic import output_directory, write_aside
from longseq.formats.digest import file_digest
from longseq.model import Model, adapter, load, save
from longseq.model.checkpoint import digest
from longseq.training.config import TrainConfig
from longseq.training.documents import AnyTokenizer

SCHEMA = "longseq.training/3"
STATE, SUM = "state.pt", "state.sha256"
"""In `training/`; the second as sha256sum reads it."""
FREE = ("data.cache", "data.leakage")
"""Settings of the data that change nothing of what a step reads."""


@dataclass(frozen=True, kw_only=True)
class Position:
    """Where a run stands."""

    step: int = 0
    """Steps done."""
    tokens: int = 0
    """Tokens learned from."""
    seconds: float = 0.0
    """Wall time, over all resumes."""
    data: str = ""
    """Digest of the data."""
    held_out_step: int = -1
    """Step after which the last evaluation stood; -1: none yet."""
    figures: dict[str, float] = field(default_factory=dict)
    """What it found, by name."""
    best_step: int = -1
    """Step of the best evaluation so far; -1: none yet."""
    best: float | None = None
    """Its main figure."""
    processes: int = 1
    """Those that read windows of their own."""
    config: str = "{}"
    """The configuration, as JSON."""

    @property
    def settings(self) -> dict[str, Any]:
        return json.loads(self.config)


def save_step(
    folder: Path,
    position: Position,
    model: Model,
    tokenizer: AnyTokenizer,
    soft_masked: float | None,
    optimiser: dict[str, Any],
    states: list[dict[str, torch.Tensor]],
    card: Mapping[str, object],
    keep: int,
) -> Path:
    """Write `step-N` under `folder`, point `latest` at it, remove all but the `keep` newest and the best one.

    Where the last evaluation was the best one and after this very step, `best` points at it too. `states` are the
    carried states of all processes, in rank order, by name of tensor; empty ones where none is.

    Raises:
        LongseqError: it cannot be written (a full disk); the checkpoints before it are left as they were.
    """
    target = folder / f"step-{position.step:08d}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with output_directory(target, force=True, given=False) as aside:
            save(aside, model, tokenizer, card=card, soft_masked=soft_masked)
            (aside / "training").mkdir()
            content = {
                "schema": SCHEMA,
                "position": asdict(position),
                "model": digest(aside),
                "optimiser": optimiser,
                "states": states,
                "adapters": adapter.state(model),
            }
            state = aside / "training" / STATE
            with open(state, "wb") as file:  # a file of torch's own hides why it fails
                torch.save(content, file)
            (aside / "training" / SUM).write_text(f"{file_digest(str(state))}  {STATE}\n")
        for name in ("latest", "best")[: 1 + (position.best_step == position.step)]:
            with write_aside(folder / name, force=True, given=False) as aside:
                aside.write_text(target.name + "\n")
    except (OSError, RuntimeError) as error:
        raise LongseqError(
            f"cannot be written: {_reason(error)}", where=str(target), remedy="make room, then go on with --resume"
        ) from error
    kept = [path for path in sorted(folder.glob("step-*")) if path.name <= target.name][-keep:]
    kept += [path for path in [pointed(folder, "best")] if path is not None]
    for path in folder.glob("step-*"):
        if path not in kept:  # older ones, and later ones of an attempt that was given up
            shutil.rmtree(path, ignore_errors=True)
    return target


def _reason(error: BaseException) -> str:
    """What the system said, also where torch made a RuntimeError of it."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, OSError) and at.strerror:
            return at.strerror
        at = at.__context__
    return str(error).splitlines()[0]


def pointed(folder: Path, which: Literal["latest", "best"]) -> Path | None:
    """The checkpoint that `latest` or `best` points at; None where there is none yet."""
    pointer = folder / which
    if not pointer.exists():
        return None
    name = pointer.read_bytes()[:80].decode(errors="replace").strip()
    target = folder / name
    if not re.fullmatch(r"step-\d{1,20}", name, re.ASCII):
        raise CheckpointError(where=str(pointer), expected="a checkpoint beside it", found=repr(name))
    if not target.is_dir():
        raise CheckpointError(where=str(pointer), expected=f"{target.name} beside it", found="nothing there")
    return target


def load_step(directory: Path) -> tuple[Model, Position, dict[str, Any]]:
    """The model in training mode, what adapters learned added up, where the run stood, and `optimiser`, `states` and
    `adapters`.

    Raises:
        CheckpointError: a file is missing or damaged, or of another schema, or numbers are not finite.
    """
    loaded = load(directory)
    file = directory / "training" / STATE
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file raises whatever the unpickler meets
        raise CheckpointError(
            where=str(file), expected="the state of a training run", found=f"{type(error).__name__}"
        ) from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise CheckpointError(
            where=str(file),
            expected=f"schema {SCHEMA}",
            found=repr(schema),
            remedy="go on with the longseq that made it, or train --from this directory",
        )
    try:
        position = Position(**content["position"])
        parts = {name: content[name] for name in ("optimiser", "states", "adapters")}
        of_model = str(content["model"])
    except (KeyError, TypeError) as error:
        raise CheckpointError(where=str(file), expected="the state of a training run", found=str(error)) from None
    for name, tensor in _tensors(parts):
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise CheckpointError(where=f"{file} ({name})", expected="finite numbers", found="NaN or infinity")
    _require(directory, of_model, loaded.sha256)
    _require(file, _noted(file.with_name(SUM)), str(file_digest(str(file))))
    return loaded.model.train(), position, content


def _noted(file: Path) -> str:
    try:
        return file.read_bytes()[:64].decode("ascii")
    except (OSError, ValueError):
        raise CheckpointError(where=str(file), expected=f"the digest of {STATE}", found="none") from None


def _require(path: Path, then: str, now: str) -> None:
    """Raise where a file is not what it was when it was written: one number may be another one, and none tells."""
    if then != now:
        raise CheckpointError(
            where=str(path),
            expected=f"what was written (sha256 {then[:12]})",
            found=f"other bytes ({now[:12]})",
            remedy="the disk may be failing; an earlier checkpoint beside it, named in 'latest', can be gone on from",
        )


def _tensors(tree: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """All tensors of nested mappings and lists, by where they are."""
    if isinstance(tree, torch.Tensor):
        yield path, tree
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list | tuple) else ()
    for name, part in items:
        yield from _tensors(part, f"{path}.{name}" if path else str(name))


def same_run(position: Position, config: TrainConfig, data: str, processes: int, movable: bool) -> None:
    """Raise unless `config` and the inputs are those that the checkpoint at `position` was made with.

    Steps, epochs, minutes, the optimiser, evaluation, checkpoints, precision, device, threads and `FREE` may change;
    the number of processes only where it is `movable`: the next step begins without a state, and a step reads as many
    windows as before.

    Raises:
        ConfigError: another model, other data, another batch; another number of processes.
    """
    # What a checkpoint of an earlier version does not say was as it is by default.
    then = json.loads(json.dumps(to_mapping(from_mapping(TrainConfig, position.settings))))
    now = json.loads(json.dumps(to_mapping(config)))
    remedy = "a resumed run keeps it; --force starts anew"
    settings = [(key, then[key], now[key]) for key in ("task", "start", "freeze", "batch")]
    for table in ("model", "data", "labels", "mask", "adapter", "pairs"):
        settings += [(f"{table}.{name}", then[table][name], value) for name, value in now[table].items()]
    settings = [change for change in settings if change[0] not in FREE]
    for key, before, value in settings:
        if before != value:
            raise ConfigError(where=key, expected=repr(before), found=repr(value), remedy=remedy)
    if position.data != data:
        raise ConfigError(where="inputs", expected="the data the run began with", found="other data", remedy=remedy)
    if config.steps is not None and config.steps < position.step:
        done = f"at least the {position.step:,} that are done"
        raise ConfigError(where="steps", expected=done, found=str(config.steps), remedy=remedy)
    if position.processes != processes and not movable:
        raise ConfigError(
            where=f"step {position.step}",
            expected=f"{position.processes} processes (times processes.sequence), who share its windows and states",
            found=str(processes),
            remedy=f"resume with {position.processes}",
        )
