"""`longseq train DATA --task extract`: what `train` does for an extractor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

from longseq.cli.talk import Talk
from longseq.config import read_toml
from longseq.errors import UsageError

TASK = "extract"


def meant(task: str | None, file: str | None, assignments: Sequence[str]) -> bool:
    """Whether a command line of `train` asks for an extractor, itself or by its settings."""
    said = [value.strip("'\" ") for key, _, value in (a.partition("=") for a in assignments) if key.strip() == "task"]
    if task is None and not said and file is not None:
        try:
            task = read_toml(file).get("task")
        except (OSError, ValueError):  # said by who reads it next
            return False
    return (task or (said[-1] if said else None)) == TASK


def train_extractor(
    out: str,
    file: str | None,
    assignments: Sequence[str],
    flags: Mapping[str, Any],
    others: Mapping[str, Any],
    *,
    force: bool,
    as_json: bool,
    talk: Talk,
) -> None:
    """Run it; `others` are flags of `train` that an extractor has not."""
    from longseq.config import load
    from longseq.formats.jsonfile import to_json
    from longseq.tasks.extract.config import ExtractConfig
    from longseq.tasks.extract.train import train_extractor

    if given := [name for name, value in others.items() if value]:
        raise UsageError(f"--task extract has no {', '.join(given)}", remedy="leave it out")
    told = [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in flags.items() if value is not None]
    config = load(ExtractConfig, file, [*assignments, *told])
    found = train_extractor(config, out, force=force, progress=talk.progress())
    click.echo(to_json({"schema": "longseq.extract/1", "outcome": found}) if as_json else found.line())
