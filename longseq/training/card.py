"""The facts of a model card that a training run knows."""

from __future__ import annotations

from pathlib import PurePath

from longseq.training.config import TrainConfig
from longseq.training.plan import epochs
from longseq.training.split import Split
from longseq.training.store import Store


def card(
    config: TrainConfig,
    store: Store,
    parts: Split,
    *,
    step: int,
    tokens: int,
    held_out_bits: float | None,
    held_out_step: int,
) -> dict[str, object]:
    """Facts by name, for people."""
    data = config.data
    letters = sum(store.records["length"])
    relabelled = f", {data.relabel:.0%} of them with bases renamed ({data.relabel_by})" if data.relabel else ""
    facts: dict[str, object] = {
        "inputs": ", ".join(PurePath(name).name for name in config.inputs),
        "learned from": f"{parts.train.bases:,} bases",
        "held out": parts.rule,
        "soft-masked": f"{sum(store.records['masked']) / letters:.2%} of all letters",
        "strands": "both" if data.both_strands else "forward",
        "windows": f"{data.window:,} bases, state carried over {data.carry}{relabelled}",
        "steps": f"{step:,} of {config.batch:,} tokens",
        "tokens scored": f"{tokens:,} ({epochs(tokens, parts.train.bases)})",
        "optimiser": f"AdamW, rate {config.optimiser.rate:g}, weight decay {config.optimiser.weight_decay:g}",
        "precision": config.precision,
        "seeds": f"model {config.model.seed}, data {data.seed}",
        "store": store.digest,
    }
    if held_out_bits is not None:
        facts["held-out bits per base"] = f"{held_out_bits:.4f} after step {held_out_step:,}"
    return facts
