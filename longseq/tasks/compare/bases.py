"""The next base of a genome, and how often the likeliest one is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from longseq.log import NullProgress
from longseq.tasks.compare.config import CompareConfig
from longseq.training import TrainConfig
from longseq.training.documents import prepare
from longseq.training.evaluate import spread
from longseq.training.store import Store
from longseq.training.tasks import Figures
from longseq.training.tasks.next_token import NextTokenTask

if TYPE_CHECKING:
    from accelerate import Accelerator

LETTERS = 4
"""Ids below it are A, C, G and T."""


def settings(config: CompareConfig) -> dict[str, Any]:
    """Of a training run that learns the next base."""
    asked = config.bases
    return {
        "inputs": list(config.inputs),
        "task": "next",
        "batch": asked.batch * asked.window,
        "data.window": asked.window,
        "data.held_out": asked.held_out,
        "data.leakage": 1.0,
        "evaluation.tokens": asked.scored,
    }


class NextBase(NextTokenTask):
    """One process learns, as in every comparison; beside bits it counts how often the likeliest base comes."""

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        windows = self._held_out()
        chosen = spread(windows, self.config.evaluation.tokens)
        nats, right, counts = 0.0, 0, np.zeros(LETTERS, np.int64)
        objective.eval()
        with torch.no_grad():
            for first in range(0, len(chosen), lanes):
                given = windows.batch(chosen[first : first + lanes], 0).on(processes.device)
                ids, scored = given["ids"], given["weight"] > 0
                logits, _ = objective.model(ids)
                told = torch.log_softmax(logits.double(), -1).gather(-1, ids[..., None])[..., 0]
                nats -= float(told[scored].sum())
                right += int((logits[..., :LETTERS].argmax(-1) == ids)[scored].sum())
                counts += np.bincount(ids[scored].cpu().numpy(), minlength=LETTERS)
        objective.train()
        bases = int(counts.sum())
        return {
            self.main: nats / math.log(2) / bases if bases else math.nan,
            "right": right / bases if bases else math.nan,
            "null_right": counts.max() / bases if bases else math.nan,
            **self.null,
        }


def task(config: TrainConfig, folder: Path) -> Callable[[TrainConfig], NextBase]:
    """Makes the task of a run whose bases are kept under `folder`."""
    from longseq.tokens import DnaTokenizer

    store = prepare(config.inputs, folder, DnaTokenizer(config.data.alphabet), NullProgress())
    assert isinstance(store, Store)
    return lambda resolved: NextBase(resolved, store)
