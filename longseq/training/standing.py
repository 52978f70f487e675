"""Where a training run stands, from what its directory says."""

from __future__ import annotations

from pathlib import Path

from longseq.config import load
from longseq.training import checkpoint
from longseq.training.config import TrainConfig
from longseq.training.journal import read_lines
from longseq.training.rundir import RunDirectory


def standing(path: str | Path) -> dict[str, object]:
    """Facts of a run by name: steps done and those asked for, what the last step and the last evaluation found, which
    checkpoints there are, and whether `--resume` goes on from one.

    Raises:
        CheckpointError: a pointer to a checkpoint that is not there.
        ConfigError: settings that are not ours.
    """
    folder = RunDirectory(path)
    config = load(TrainConfig, folder.config)
    lines = read_lines(folder.metrics)
    scored = [line for line in lines if any(name.startswith("held_out_") for name in line)]
    steps = [line for line in lines if line not in scored]
    latest, best = (checkpoint.pointed(folder.checkpoints, name) for name in ("latest", "best"))
    return {
        "what": "run",
        "path": str(folder.path),
        "task": config.task,
        "inputs": list(config.inputs),
        "steps": steps[-1]["step"] if steps else 0,
        "asked_for": {name: getattr(config, name) for name in ("steps", "epochs", "minutes")},
        "last_step": steps[-1] if steps else None,
        "last_evaluation": scored[-1] if scored else None,
        "latest": latest.name if latest else None,
        "best": best.name if best else None,
        "resumable": latest is not None,
        "nonfinite": str(folder.nonfinite) if folder.nonfinite.exists() else None,
        "model": str(folder.model) if folder.model.exists() else None,
    }
