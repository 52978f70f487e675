"""What a batch was asked for: equal in all its shards, and told apart from any other by what results depend on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from longseq import __version__
from longseq.errors import UsageError

SCHEMA = "longseq.shard/1"
NAMES = ("command", "version", "inputs", "reading", "models", "request")
"""Of `Order`, as a shard keeps it."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How inputs are opened: which records there are depends on it."""

    kind: str | None = None
    column: str | None = None
    on_unknown: str = "error"

    def options(self) -> dict[str, Any]:
        """For `formats.read`."""
        return {"kind": self.kind, "text": self.column, "on_unknown": self.on_unknown}


@dataclass(frozen=True, kw_only=True)
class Order:
    """One command over all its inputs."""

    command: str
    """Its name: `summarize`."""
    inputs: tuple[str, ...]
    """Files, folders and patterns expanded."""
    request: Mapping[str, Any]
    """All else that results depend on, in plain types; device, threads, precision and chunk, too."""
    models: Mapping[str, str] = field(default_factory=dict)
    """sha256 of each model that takes part, by what it is for."""
    reading: Reading = field(default_factory=Reading)
    version: str = __version__

    def __post_init__(self):
        if "-" in self.inputs:
            remedy = "write it to a file first"
            raise UsageError("standard input cannot be cut into shards", where="<stdin>", remedy=remedy)

    def plain(self) -> dict[str, Any]:
        """By `NAMES`, as JSON gives it back."""
        found = {name: getattr(self, name) for name in NAMES}
        found["reading"] = vars(self.reading)
        return json.loads(json.dumps(found))


def shard_of(text: str) -> tuple[int, int]:
    """`3/8` as its two numbers.

    Raises:
        UsageError: it is something else.
    """
    first, _, last = text.partition("/")
    if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit()):
        raise UsageError(where="--shard", expected="I/N, as 3/8", found=repr(text))
    number, of = int(first), int(last)
    if not 1 <= number <= of:
        raise UsageError(where="--shard", expected="I/N with 1 <= I <= N", found=repr(text))
    return number, of


def first_difference(name: str, mine: Any, its: Any) -> tuple[str, Any, Any]:
    """Of two settings that differ, the first part of them that does: its name, and both values."""
    while isinstance(mine, dict) and isinstance(its, dict):
        key = next(key for key in [*mine, *its] if mine.get(key) != its.get(key))
        name, mine, its = f"{name} {key}", mine.get(key), its.get(key)
    return name, mine, its
