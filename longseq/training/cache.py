"""Folders that are made once and shared: named by what they hold, whole or not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from longseq.errors import ConfigError, OutputExistsError, UsageError
from longseq.formats.atomic import output_directory


def made(
    name: str, directory: Path, make: Callable[[Path], None], look: Path | None = None, *, fixed: bool = False
) -> Path:
    """The folder `name` under `look` or under `directory`; where neither has it, `make` fills one under `directory`.

    It is written aside and renamed, so that nobody reads a half of it; of two processes that make it at once the first
    one's stays. Where it is there already nothing is written.

    Raises:
        UsageError: the directory cannot be written.
        ConfigError: neither has it and `fixed`: it was made before, from the same inputs.
    """
    target = directory / name
    for there in (look / name if look else target, target):
        if there.is_dir():
            return there
    if fixed:
        raise ConfigError(
            where="inputs",
            expected="the data the run began with",
            found="other data",
            remedy="a resumed run keeps it; --force starts anew",
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot be made: {error.strerror}", where=str(directory)) from None
    try:
        with output_directory(target) as aside:
            make(aside)
    except OutputExistsError:  # another process has made it meanwhile
        if not target.is_dir():
            raise
    return target
