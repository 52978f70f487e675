"""Facts beside a model: a JSON file in its directory that holds for one set of weights alone."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from longseq.errors import CheckpointError, ConfigError
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import read_json

log = logging.getLogger("longseq")

Facts = TypeVar("Facts")
KEY = "model_sha256"
LONGEST = 1 << 20
"""Bytes of such a file."""


def write_beside(file: Path, facts: Mapping, sha256: str) -> None:
    """The file, whole or not at all, in place of an earlier one; `sha256` is that of the model."""
    text = json.dumps({KEY: sha256, **facts}, indent=2) + "\n"
    with write_aside(file, force=True, given=False) as aside:
        aside.write_text(text, encoding="utf-8")


def read_beside(
    file: Path, sha256: str, expected: str, made: Callable[[dict], Facts], remedy: str = ""
) -> Facts | None:
    """What `made` makes of the file's facts; None where there is no file, or one of other weights, which is said.

    `expected` names the facts in an error, `remedy` ends the warning.

    Raises:
        CheckpointError: it cannot be read.
    """
    if not file.is_file():
        return None
    try:
        facts = read_json(file, most=LONGEST)
        of = facts.pop(KEY)
        found = made(facts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(where=str(file), expected=expected, found=str(error)) from None
    if of != sha256:
        log.warning("%s: is of other weights, and is left out%s", file, remedy)
        return None
    return found
