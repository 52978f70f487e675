"""Facts about a path: what it is, without doing anything with it."""

from __future__ import annotations

import json
from pathlib import Path

from longseq.errors import CheckpointError, ConfigError
from longseq.formats import read
from longseq.records import Kind
from longseq.tasks.shards.batch import standing
from longseq.tasks.shards.gather import is_batch

LOOKED_AT = 1 << 26
"""Letters of a file that are read; a larger one is described by its beginning."""
LISTED = 10
"""Records that are listed."""


def describe(path: str, *, kind: Kind | None = None, column: str | None = None, model: str | None = None) -> dict:
    """Facts by name, ready for JSON; the first, `what`, is `checkpoint`, `run`, `conversion`, `state`, `batch`, `dna`
    or `document`.

    Args:
        path: A file of sequences or documents, a checkpoint directory or shipped name, a training run, a conversion,
            a saved state, the folder of a batch of shards, or `-`.
        kind: Overrides what a file's content says.
        column: That of a table with the texts.
        model: The checkpoint that a saved state must belong to; nothing but a saved state is expected then.

    Raises:
        InputError: what stands there is none of these.
        StateError: a saved state that is damaged, or belongs to another model than `model`.
    """
    place = Path(path)
    if model is not None:
        return _state(path, model)
    if place.is_dir() and (place / "config.json").is_file():
        return _checkpoint(path) | _conversion(path)
    if found := _conversion(path):
        return found["conversion"]
    if (place / "run.toml").is_file():
        return _run(path)
    if (place / "model" / "config.json").is_file():
        return _checkpoint(str(place / "model"))  # of a run, of which nothing else was kept
    if is_batch(place):
        return standing(place)
    if not place.is_file() and path != "-" and place.name == path and path in _shipped():
        return _checkpoint(path)
    if place.is_file() and _is_safetensors(place):
        return _state(path)
    return _file(path, kind, column)


def _shipped() -> list[str]:
    from longseq.model.checkpoint import shipped

    return shipped()


def _checkpoint(path: str) -> dict:
    from longseq.config import to_mapping
    from longseq.model import load

    checkpoint = load(path)
    head = getattr(checkpoint.model, "head_config", None)
    return {
        "what": "checkpoint",
        "path": str(checkpoint.path),
        "parameters": checkpoint.parameters,
        "sha256": checkpoint.sha256,
        "tokenizer": type(checkpoint.tokenizer).__name__,
        "vocabulary": checkpoint.tokenizer.vocabulary,
        "labels": None if checkpoint.labels is None else list(checkpoint.labels),
        "head": None if head is None else to_mapping(head),
        "config": to_mapping(checkpoint.config),
        "card": checkpoint.card or None,
    }


def _conversion(path: str) -> dict:
    """Of a checkpoint to be, or to be made anew, whose conversion is not finished."""
    if not (Path(path) / "training").is_dir():
        return {}
    from longseq.tasks.convert.standing import standing, unfinished

    try:
        return {"conversion": standing(path)} if unfinished(path) else {}
    except (CheckpointError, ConfigError):
        if (Path(path) / "config.json").is_file():
            return {}  # the checkpoint is whole without
        raise


def _run(path: str) -> dict:
    from longseq.training.standing import standing

    return standing(path)


def _state(path: str, model: str | None = None) -> dict:
    from longseq.streaming.snapshot import load_snapshot, read_snapshot

    facts, tensors = read_snapshot(path)
    if model is not None:
        from longseq.model import load

        load_snapshot(path, load(model))
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    return {"what": "state", "path": path, **facts, "carry": len(facts["carry"]) // 2, "tensor_bytes": size}


def _file(path: str, kind: Kind | None, column: str | None) -> dict:
    with read(path, kind=kind, text=column) as reading:
        listed: list[dict] = []
        records, letters, whole = 0, 0, True
        for record in reading:
            records += 1
            length = 0
            for piece in record.pieces:
                length += len(piece)
                if letters + length >= LOOKED_AT:
                    whole = False
                    break
            letters += length
            if len(listed) < LISTED:
                facts = {"id": record.id, "description": record.description, "length": length if whole else None}
                listed.append({**facts, "topology": record.topology, "notes": dict(record.notes)})
            if not whole:
                break
        return {
            "what": reading.kind,
            "path": path,
            "format": reading.format.name,
            "container": reading.container,
            "bytes": reading.size,
            "whole": whole,
            "records": records,
            "letters": letters,
            "truncated": reading.truncated,
            "first": listed,
        }


def _is_safetensors(path: Path) -> bool:
    """Eight bytes of length, then a JSON object of that length."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= path.stat().st_size - 8 or file.read(1) != b"{":
            return False
        try:
            return isinstance(json.loads(b"{" + file.read(size - 1)), dict)
        except ValueError:
            return False
