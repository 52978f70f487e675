"""Hidden tokens, told from both sides: the loss is the cost of what stood there, and the model sees the rest."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from longseq.errors import InputError
from longseq.model import HeadConfig, Model
from longseq.model.headed import build
from longseq.training.config import TrainConfig
from longseq.training.device import sum_over
from longseq.training.documents import Documents
from longseq.training.evaluate import evaluate
from longseq.training.examples import TokenExamples
from longseq.training.hiding import Hiding, Masked
from longseq.training.records import BASES, WordRecords
from longseq.training.store import Store, Stretches
from longseq.training.tasks.base import Figures, Task
from longseq.training.tasks.documents import Counted, DocumentTask
from longseq.training.tasks.losses import TokenLoss
from longseq.training.tasks.next_token import NextTokenTask

if TYPE_CHECKING:
    from accelerate import Accelerator

log = logging.getLogger("longseq")


class _Hiding(Task):
    """What hiding letters and hiding words have in common."""

    config: TrainConfig
    hiding: Hiding

    def model(self) -> Model:
        outputs = self.hiding.mask_id
        return build(self.config.model, HeadConfig(task="masked", outputs=outputs, mask_id=outputs), (), self.tokenizer)

    def objective(self, model: Any) -> nn.Module:
        return TokenLoss(model)

    def _require_some(self, hidden: int) -> None:
        """Say that there is no figure where nothing was hidden."""
        if not hidden:
            share = self.config.mask.share
            log.warning("nothing was hidden in what is held out (mask.share is %g): raise it, or hold out more", share)

    def facts(self) -> dict[str, object]:
        return {"task": "masked", **super().facts(), "hidden": self.hiding.said}  # type: ignore[safe-super]


class MaskedTask(_Hiding, NextTokenTask):
    """Bases."""

    def __init__(self, config: TrainConfig, store: Store):
        super().__init__(config, store)
        known = np.arange(self.tokenizer.vocabulary) < BASES
        self.hiding = Hiding(config.mask, self.tokenizer, known, config.data.seed)
        self.train = Masked(self.train, self.hiding)

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        """Bits of the hidden bases, beside those of a guess by the composition of what is held out."""
        windows = Masked(self._held_out(), self.hiding)
        found = evaluate(objective, windows, processes, tokens=self.config.evaluation.tokens, lanes=lanes, stop=stop)
        if found is None:
            return None
        self._require_some(found.tokens)
        return {**found._asdict(), **self.null}

    def _null(self) -> Figures:
        """Bits of a base when only the composition of the held-out bases is known."""
        counts, held = np.zeros(BASES), self.split.held_out
        for offset, length in zip(held.offset.tolist(), held.length.tolist(), strict=True):
            ids = self.store.read(offset, offset + min(length, self.config.evaluation.tokens))
            counts += np.bincount(ids[ids < BASES], minlength=BASES)
        shares = counts[counts > 0] / counts.sum()
        return {"null_bits_per_base": float(-(shares * np.log2(shares)).sum())}

    def said(self, figures: Figures) -> str:
        return (
            f"{figures['bits_per_base']:.4f} bits per hidden base held out "
            f"(by composition {figures['null_bits_per_base']:.4f})"
        )


class MaskedWordTask(_Hiding, DocumentTask):
    """Tokens of documents, or of DNA in words."""

    def __init__(self, config: TrainConfig, store: Documents):
        super().__init__(config, store)
        self.main = "bits_per_token"
        self.records = WordRecords(store)
        self._scored = self.records.known
        self.hiding = Hiding(config.mask, self.tokenizer, self._scored, config.data.seed)
        learned = self._hidden(self.split.train, shuffle=True)
        if learned is None:
            raise InputError(where=", ".join(config.inputs), expected="tokens to learn from", found="none")
        self.train, self.held_out = learned, self._hidden(self.split.held_out, shuffle=False)
        if self.held_out is None:
            self.to_score = 0

    def _hidden(self, stretches: Stretches, *, shuffle: bool) -> Masked | None:
        """None where these stretches are no more than ends of documents."""
        last = np.minimum(stretches.start + stretches.length, self.records.lengths[stretches.record])
        some = last > stretches.start
        if not some.any():
            return None
        bounds, which = (stretches.start[some], last[some]), stretches.record[some].astype(np.int64)
        data, batch = self.config.data, self.config.batch
        return Masked(TokenExamples(self.records, which, data, batch, shuffle=shuffle, bounds=bounds), self.hiding)

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        """Bits of the hidden tokens, beside those by their frequencies among what is learned from."""
        assert self.held_out is not None
        read = Counted(self.held_out, self._unigram)
        found = evaluate(objective, read, processes, tokens=self._room(read), lanes=lanes, stop=stop)
        if found is None:
            return None
        self._require_some(found.tokens)
        (null,) = sum_over(processes, read.null)
        return {
            self.main: found.bits_per_base,
            "null_bits_per_token": null / found.tokens if found.tokens else float("nan"),
            "tokens": found.tokens,
        }

    def said(self, figures: Figures) -> str:
        return (
            f"{figures['bits_per_token']:.4f} bits per hidden token held out; "
            f"{figures['null_bits_per_token']:.4f} by frequencies alone"
        )
