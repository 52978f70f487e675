"""Facts about a path: what it is, without doing anything with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from longseq.errors import InputError
from longseq.formats.containers import open_bytes
from longseq.formats.folders import meant_file, shards
from longseq.records import Kind
from longseq.tasks.info import binary, folders, models, results, sequences, tables
from longseq.tasks.info.next_steps import what_next
from longseq.tasks.shards.batch import standing
from longseq.tasks.shards.gather import is_batch

SAMPLE = 1 << 16
"""Bytes of a file by which it is told what it is."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def describe(path: str, *, kind: Kind | None = None, column: str | None = None, model: str | None = None) -> dict:
    """Facts by name, ready for JSON: `what`, a word; `is`, the same for people; the rest; and `next`, a command that
    goes on from there, where there is one.

    Args:
        path: A file, a checkpoint directory or shipped name, a training run, a conversion, a batch of shards or one of
            them, a folder of results or of files, or `-`.
        kind: Overrides what a file's content says.
        column: That of a table with the texts.
        model: The checkpoint that a saved state must belong to; nothing but a saved state is expected then.

    Raises:
        InputError: nothing is there, or nothing that anything here can read.
        StateError: a saved state that is damaged, or belongs to another model than `model`.
    """
    facts = _facts(path, kind, column, model)
    return facts | {"next": what_next(facts)}


def _facts(path: str, kind: Kind | None, column: str | None, model: str | None) -> dict[str, Any]:
    place = Path(path)
    if model is not None:
        return models.state(path, model)
    if _ADDRESS.match(path):
        raise InputError("is an address, and nothing is read over the network", where=path, remedy="download it first")
    if not place.exists() and path != "-":
        if place.name == path and path in models.shipped():
            return models.checkpoint(path)
        near = meant_file(path, models.shipped() if place.name == path else ())
        raise InputError("no such file", where=path, remedy=near or "check the path")
    if place.is_dir() and not shards(path):
        return _folder(path, place)
    if kind is None and column is None and place.is_file():
        with open_bytes(path) as stream:
            sample = stream.peek(SAMPLE)
            container = stream.container
        for known in (binary.facts, results.facts, tables.facts):
            if found := known(path, sample, container):
                return found
    return sequences.facts(path, kind, column)


def _folder(path: str, place: Path) -> dict[str, Any]:
    if (place / "config.json").is_file():
        return models.checkpoint(path) | models.conversion(path)
    if found := models.conversion(path):
        return found["conversion"]
    if (place / "run.toml").is_file():
        return models.run(path)
    if (place / "model" / "config.json").is_file():
        return models.checkpoint(str(place / "model"))  # of a run, of which nothing else was kept
    if is_batch(place):
        return {"is": "a batch of shards", **standing(place)}
    if place.name == path and path in models.shipped():
        return models.checkpoint(path)
    return folders.facts(path)
