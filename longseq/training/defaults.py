"""Settings that are left open, by what is learned and from where: fine-tuning is not pretraining.

pipelines/benchmarks/finetuning.py sets them beside the null.
"""

from __future__ import annotations

from dataclasses import replace

from longseq.training.config import ANSWERED, RECORDS, TrainConfig

FORETOLD = (4096, 16384)
"""Tokens a step of a model that learns to foretell tokens at least, and at most …"""
STEPS_AN_EPOCH = 32
"""… so that an epoch has as many steps: little data are learned from in small steps."""
EXAMPLES = 16
"""Windows a step from labels or pairs: there an example is one answer, however long, and steps are what is short."""
BATCHES = (1024, 8192)
"""Tokens of such a step at least, and at most."""
ANNOTATED = 4096
"""Tokens of a step where each one is an answer."""
RATES = {"nothing": 3e-3, "model": 1e-3, "adapters": 3e-3, "head": 1e-2}
"""Highest learning rate where a run starts from nothing, or trains a whole model, its adapters, or its head alone."""
STEPS = 1000
"""Steps that labels or pairs are learned in, where neither steps, epochs nor minutes are given …"""
EPOCHS = (3.0, 20.0)
"""… if they come to so many epochs at least, and at most."""


def reads_once(config: TrainConfig) -> bool:
    """Whether records are words whose encoder stays as it is: they are read once, and only a head is trained."""
    kept = config.freeze == "encoder" and not config.adapter.rank and not config.data.shift
    return kept and config.data.tokenizer is not None and config.task in RECORDS


def settled(config: TrainConfig, longest: int, tokens: int) -> TrainConfig:
    """With batch and learning rate, where none are given, that suit a task on so many tokens, in records of at most
    `longest`."""
    rate = config.optimiser.rate or RATES[_begun(config)]
    return replace(
        config, batch=config.batch or _batch(config, longest, tokens), optimiser=replace(config.optimiser, rate=rate)
    )


def epochs(task: str, per_epoch: float, once: bool = False) -> float:
    """Times that the data are read where nothing says so, at `per_epoch` steps each; `once`: what is read again is only
    what is kept of them, at next to no cost."""
    if task not in ANSWERED:
        return 1.0
    least, most = EPOCHS
    wanted = max(STEPS / per_epoch, least)
    return wanted if once else min(wanted, most)


def _batch(config: TrainConfig, longest: int, tokens: int) -> int:
    if config.task not in ANSWERED:
        least, most = FORETOLD
        return max(min(max(tokens // STEPS_AN_EPOCH, least), most), config.data.window)
    if config.task == "annotate":
        return ANNOTATED
    least, most = BATCHES
    return min(max(EXAMPLES * min(config.data.window, longest), least), most)


def _begun(config: TrainConfig) -> str:
    if config.start is None:
        return "nothing"
    if config.adapter.rank:
        return "adapters"
    return "model" if config.freeze == "nothing" else "head"
