"""Masked bases, told from both sides: spans of a window are hidden, and the loss is the cost of what stood there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from longseq.model import HeadConfig, Model
from longseq.model.headed import build
from longseq.records import Interval
from longseq.training.batch import Batch
from longseq.training.config import MaskConfig, TrainConfig
from longseq.training.evaluate import evaluate
from longseq.training.store import Store
from longseq.training.tasks.base import Figures
from longseq.training.tasks.losses import TokenLoss
from longseq.training.tasks.next_token import NextTokenTask
from longseq.training.windows import Windows

if TYPE_CHECKING:
    from accelerate import Accelerator

KNOWN = 4
"""Ids below are A, C, G and T: only these are asked for."""


class MaskedWindows:
    """Windows with spans hidden, the same ones for the same window at any time (Joshi et al. 2020, section 3.1)."""

    def __init__(self, windows: Windows, config: MaskConfig, mask_id: int, seed: int):
        self._windows, self._config, self._mask_id, self._seed = windows, config, mask_id, seed
        self.width, self.carry, self.passages, self.span = windows.width, windows.carry, windows.passages, windows.span

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        """Ids with the mask's id where a token is hidden; targets are the ids as they were."""
        whole = self._windows.batch(numbers, phase)
        hidden = np.stack([self._hidden(number, phase, whole.ids.shape[1]) for number in numbers])
        ids = np.where(hidden, self._mask_id, whole.ids)
        return Batch(ids, whole.weight * (hidden & (whole.ids < KNOWN)), whole.ids, np.ones(ids.shape, bool))

    def places(self, number: int, phase: int) -> list[Interval]:
        return self._windows.places(number, phase)

    def _hidden(self, number: int, phase: int, length: int) -> np.ndarray:
        """(T,) bool: spans begin at random, so often that the share asked for is covered on average."""
        draw = np.random.default_rng([self._seed, 3, number, phase])
        span = self._config.span
        starts = draw.random(length + span - 1) < 1 - (1 - self._config.share) ** (1 / span)
        covered = np.convolve(starts, np.ones(span, np.int64))[span - 1 : span - 1 + length]
        return covered > 0


class MaskedTask(NextTokenTask):
    def __init__(self, config: TrainConfig, store: Store):
        super().__init__(config, store)
        self.mask_id = self.tokenizer.vocabulary
        self.train = self._hiding(Windows(store, self.split.train, config.data))

    def _hiding(self, windows: Windows) -> MaskedWindows:
        return MaskedWindows(windows, self.config.mask, self.mask_id, self.config.data.seed)

    def model(self) -> Model:
        head = HeadConfig(task="masked", outputs=self.mask_id, mask_id=self.mask_id)
        return build(self.config.model, head, (), self.tokenizer)

    def objective(self, model: Any) -> nn.Module:
        return TokenLoss(model)

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        """Bits of the hidden bases, beside those of a guess by the composition of what is held out."""
        windows = Windows(self.store, self.split.held_out, self.config.data, shuffle=False)
        found = evaluate(
            objective, self._hiding(windows), processes, tokens=self.config.evaluation.tokens, lanes=lanes, stop=stop
        )
        if found is None:
            return None
        return {**found._asdict(), "null_bits_per_base": self._composition()}

    def _composition(self) -> float:
        """Bits of a base when only the composition of the held-out bases is known."""
        counts, held = np.zeros(KNOWN), self.split.held_out
        for offset, length in zip(held.offset.tolist(), held.length.tolist(), strict=True):
            ids = self.store.read(offset, offset + min(length, self.config.evaluation.tokens))
            counts += np.bincount(ids[ids < KNOWN], minlength=KNOWN)
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log2(shares)).sum())

    def said(self, figures: Figures) -> str:
        return (
            f"{figures['bits_per_base']:.4f} bits per hidden base held out "
            f"(by composition {figures['null_bits_per_base']:.4f})"
        )

    def facts(self) -> dict[str, object]:
        mask = self.config.mask
        return {
            "task": "masked",
            **super().facts(),
            "hidden": f"{mask.share:.0%} of the bases, in spans of {mask.span}",
        }
