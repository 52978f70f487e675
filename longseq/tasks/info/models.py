"""What training makes and streams leave: checkpoints, runs, conversions, saved states, tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longseq.errors import CheckpointError, ConfigError


def shipped() -> list[str]:
    from longseq.model.checkpoint import shipped

    return shipped()


def checkpoint(path: str) -> dict[str, Any]:
    from longseq.config import to_mapping
    from longseq.model import load

    found = load(path)
    head = getattr(found.model, "head_config", None)
    return {
        "what": "checkpoint",
        "is": f"a model to {head.answers}" if head is not None else "a language model",
        "path": str(found.path),
        "parameters": found.parameters,
        "sha256": found.sha256,
        "tokenizer": type(found.tokenizer).__name__,
        "vocabulary": found.tokenizer.vocabulary,
        "labels": None if found.labels is None else list(found.labels),
        "head": None if head is None else to_mapping(head),
        "config": to_mapping(found.config),
        "card": found.card or None,
    }


def conversion(path: str) -> dict[str, Any]:
    """Of a checkpoint to be, or to be made anew, whose conversion is not finished."""
    if not (Path(path) / "training").is_dir():
        return {}
    from longseq.tasks.convert.standing import standing, unfinished

    try:
        return {"conversion": {"is": "a conversion", **standing(path)}} if unfinished(path) else {}
    except (CheckpointError, ConfigError):
        if (Path(path) / "config.json").is_file():
            return {}  # the checkpoint is whole without
        raise


def run(path: str) -> dict[str, Any]:
    from longseq.training.standing import standing

    return {"is": "a training run", **standing(path)}


def state(path: str, model: str | None = None) -> dict[str, Any]:
    from longseq.streaming.snapshot import load_snapshot, read_snapshot

    facts, tensors = read_snapshot(path)
    if model is not None:
        from longseq.model import load

        load_snapshot(path, load(model))
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    known = {"what": "state", "is": "what a model remembers of what it has read", "path": path, **facts}
    return known | {"carry": len(facts["carry"]) // 2, "tensor_bytes": size}
