"""The next base: a causal language model of DNA."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from longseq.model import LanguageModel, Model
from longseq.tokens import DnaTokenizer
from longseq.training.config import TrainConfig
from longseq.training.evaluate import evaluate, spread
from longseq.training.grouping import digest_of
from longseq.training.leakage import warnings
from longseq.training.null import UNKNOWN, joined, null, sample
from longseq.training.objective import NextTokenLoss
from longseq.training.plan import notes
from longseq.training.split import split
from longseq.training.store import Store
from longseq.training.tasks.base import Figures, Task
from longseq.training.windows import Windows

if TYPE_CHECKING:
    from accelerate import Accelerator


class NextTokenTask(Task):
    main, lower_is_better = "bits_per_base", True
    null: Figures
    """What is reached without a model; empty where nothing is held out."""

    def __init__(self, config: TrainConfig, store: Store):
        self.config, self.store, self.soft_masked = config, store, store.soft_masked
        self.tokenizer, self.digest = DnaTokenizer(config.data.alphabet), digest_of(store.digest, config.data)
        self.split = split(store, config.data)
        self.rule, self.bases = self.split.rule, self.split.train.bases
        self.described = f"{self.bases:,} {'base' if self.bases == 1 else 'bases'}"
        self.train = Windows(store, self.split.train, config.data)
        self.to_score = min(config.evaluation.tokens, self.split.held_out.bases)
        self.null = self._null() if self.to_score else {}

    def _held_out(self) -> Windows:
        return Windows(self.store, self.split.held_out, self.config.data, shuffle=False)

    def _null(self) -> Figures:
        """What is reached without a model, on the very bases that an evaluation reads."""
        windows, seed = self._held_out(), self.config.data.seed
        read = []
        for number in spread(windows, self.config.evaluation.tokens):
            parts = (windows.batch([number], phase) for phase in range(windows.carry))
            read.append(np.concatenate([np.where(part.weight[0] > 0, part.ids[0], UNKNOWN) for part in parts]))
        found = null(sample(self.store, self.split.train, seed), joined(read))
        return {
            "composition_bits_per_base": found.composition,
            "null_bits_per_base": found.bits,
            "null_order": found.order,
        }

    def model(self) -> Model:
        return LanguageModel(self.config.model)

    def objective(self, model: Any) -> nn.Module:
        return NextTokenLoss(model)

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        tokens, slices = self.config.evaluation.tokens, self.config.processes.sequence
        found = evaluate(objective, self._held_out(), processes, tokens=tokens, lanes=lanes, slices=slices, stop=stop)
        return None if found is None else {**found._asdict(), **self.null}

    def learned(self, loss: float) -> Figures:
        return {"bits_per_base": loss / math.log(2)}

    def said(self, figures: Figures) -> str:
        return (
            f"{figures['bits_per_base']:.4f} bits per base held out (by composition "
            f"{figures['composition_bits_per_base']:.4f}, by a Markov model of order {figures['null_order']} "
            f"{figures['null_bits_per_base']:.4f})"
        )

    def notes(self) -> tuple[str, ...]:
        return notes(self.store, self.split, self.config.data)

    def leaks(self) -> tuple[str, ...]:
        return warnings(self.store, self.split, self.config.data, self.tokenizer)

    def facts(self) -> dict[str, object]:
        data = self.config.data
        relabelled = f", {data.relabel:.0%} of them with bases renamed ({data.relabel_by})" if data.relabel else ""
        return {
            "soft-masked": f"{self.store.soft_masked:.2%} of all letters",
            "strands": "both" if data.both_strands else "forward",
            "windows": f"{data.window:,} bases, state carried over {data.carry}{relabelled}",
        }
