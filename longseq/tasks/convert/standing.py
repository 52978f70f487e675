"""Where a conversion that was stopped stands, and the command that goes on with it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from longseq.config import load, to_mapping
from longseq.tasks.convert.settings import OpeningSettings, Settings
from longseq.tasks.convert.work import CONVERT, FOLDER, OPENING, Begun, OpeningBegun, Work, flat
from longseq.training import standing as of_run
from longseq.training.transfer import opened, scoring

OF_A_RUN = ("steps", "asked_for", "last_step", "last_evaluation", "resumable")
"""Facts of the run of a stage that are told."""


def unfinished(out: str | Path) -> bool:
    """Whether a conversion, or the opening of a memory, began in this directory and did not come to its end."""
    begun = _begun(Path(out))
    return begun is not None and not set(_stages(begun)) <= Work(out, begun).came().keys()


def standing(out: str | Path) -> dict[str, Any]:
    """Facts of one that is unfinished, by name: what it is, what each stage came to, where the stage stands that it was
    stopped in, and `go_on`, a command for a shell.

    Raises:
        CheckpointError, ConfigError: files that are not ours.
    """
    begun = _begun(Path(out))
    assert begun is not None
    work = Work(out, begun)
    came = work.came()
    stage = next(name for name in _stages(begun) if name not in came)
    run = of_run.standing(work.run(stage)) if (work.run(stage) / "run.toml").is_file() else {}
    said = scoring.said if isinstance(begun, Begun) else opened.said
    return {
        "what": "conversion",
        "path": str(out),
        "status": f"not finished; its stage {stage} is to be done",
        "model": begun.source.model if isinstance(begun, Begun) else begun.model,
        "stages": {name: facts.line(said, timed=True) for name, facts in came.items()},
        "stage": stage,
        "stage_so_far": {name: run[name] for name in OF_A_RUN if name in run},
        "go_on": _command(begun, out),
    }


def _begun(out: Path) -> Begun | OpeningBegun | None:
    folder = out / FOLDER
    if (folder / CONVERT).is_file():
        return load(Begun, folder / CONVERT)
    return load(OpeningBegun, folder / OPENING) if (folder / OPENING).is_file() else None


def _stages(begun: Begun | OpeningBegun) -> list[str]:
    if isinstance(begun, OpeningBegun):
        return ["opening"]
    return [name for name in ("transfer", "distil") if getattr(begun.settings, name).steps != 0]


def _command(begun: Begun | OpeningBegun, out: str | Path) -> str:
    """As options where `longseq convert` has one that its settings lack, and --set for what is not as by default."""
    words = ["longseq", "convert"]
    given = to_mapping(begun.settings)
    if isinstance(begun, Begun):
        source, usual = begun.source, to_mapping(Settings())
        words += [source.model, *_option("--tokenizer", source.tokenizer), *_option("--segment", source.segment)]
    else:
        usual = to_mapping(OpeningSettings())
        words += [begun.model, "--open-memory", *_option("--teacher", given.pop("teacher"))]
    for option, key in (("--texts", "inputs"), ("--exclude", "exclude")):
        for path in given.pop(key):
            words += [option, str(path)]
    before = flat(usual)
    for key, value in flat(given).items():
        if value != before[key]:
            words += ["--set", f"{key}={json.dumps(value, ensure_ascii=False)}"]
    return shlex.join([*words, "--out", str(out), "--resume"])


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]
