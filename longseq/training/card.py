"""The facts of a model card that a training run knows."""

from __future__ import annotations

from pathlib import PurePath

from longseq.training.config import TrainConfig
from longseq.training.plan import epochs
from longseq.training.tasks.base import Figures, Task


def card(
    config: TrainConfig, task: Task, *, step: int, tokens: int, figures: Figures, held_out_step: int
) -> dict[str, object]:
    """Facts by name, for people."""
    inputs = ", ".join(PurePath(name).name for name in config.inputs)
    facts: dict[str, object] = {
        **({"inputs": inputs} if inputs else {}),  # a caller's own task has none
        "learned from": task.described,
        "held out": task.rule,
        **task.facts(),
        "steps": f"{step:,} of {config.batch:,} tokens",
        "tokens": f"{tokens:,} ({epochs(tokens, task.bases)})",
        "optimiser": f"AdamW, rate {config.optimiser.rate:g}, weight decay {config.optimiser.weight_decay:g}",
        **_adapters(config),
        "precision": config.precision,
        "seeds": f"model {config.model.seed}, data {config.data.seed}",
        "store": task.digest,
    }
    for name, value in figures.items():
        number = f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
        facts[f"held-out {name.replace('_', ' ')}"] = f"{number} after step {held_out_step:,}"
    return facts


def _adapters(config: TrainConfig) -> dict[str, object]:
    wanted = config.adapter
    if not wanted.rank:
        return {}
    return {"adapters": f"rank {wanted.rank}, alpha {wanted.alpha:g}, on {', '.join(wanted.maps) or 'all maps'}"}
