"""From source to target: one causal encoder reads `source <separator> target <end>`; only target and end are asked for.

The state behind the separator is all that the target sees of its source (for softmax attention a state that grows).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from longseq.errors import ConfigError, InputError
from longseq.log import count
from longseq.model import LanguageModel, Model
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.writable import writable
from longseq.training.config import TrainConfig
from longseq.training.device import sum_over
from longseq.training.objective import NextTokenLoss
from longseq.training.pairs import PairRows, Pairs, greedy
from longseq.training.pairs.store import digest
from longseq.training.tasks.base import Figures, Task

if TYPE_CHECKING:
    from accelerate import Accelerator

COUNTED = 100_000
"""Pairs from which the frequencies of the null are known."""


class PairTask(Task):
    main, lower_is_better = "bits_per_target_token", True
    tokenizer: StreamTokenizer
    train: PairRows

    def __init__(self, config: TrainConfig, pairs: Pairs):
        self.config, self.pairs = config, pairs
        self.tokenizer, self.digest = pairs.tokenizer, pairs.digest
        fitting = self._fitting()
        held = _held_out(pairs.group[fitting], config)
        self.train = PairRows(pairs, fitting[~held], batch=config.batch, seed=config.data.seed)
        self.bases = int(self.train.asked.sum())
        self.described = f"{count(self.train.passages, 'pair')}, {count(self.bases, 'token')} of targets"
        self.held_out: PairRows | None = None
        self.chosen, self.rule, self.to_score = np.zeros(0, np.int64), "nothing", 0
        if held.any():
            self.held_out = PairRows(pairs, fitting[held], shuffle=False)
            self.chosen = self._choose(self.held_out)
            self.to_score = int(self.held_out.lengths[self.chosen].sum())
            self.rule = f"{int(held.sum()):,} of {count(len(held), 'pair')}"

    def _fitting(self) -> np.ndarray:
        """Pairs that fit a window."""
        lengths, window = self.pairs.end - self.pairs.start, self.config.data.window
        fits = lengths <= window
        self.longer = int((~fits).sum())
        if self.longer and self.config.pairs.longer == "error":
            first = int(np.flatnonzero(~fits)[0])
            others = f" (and {self.longer - 1:,} more pairs are longer)" if self.longer > 1 else ""
            raise InputError(
                where=self.pairs.where(first),
                expected=f"at most data.window ({window}) tokens, with separator and end",
                found=f"{int(lengths[first]):,}{others}",
                remedy="raise data.window, or leave such pairs out with pairs.longer=skip",
            )
        if not fits.any():
            raise InputError(where="data.window", expected="pairs that fit", found=f"none of at most {window} tokens")
        return np.flatnonzero(fits)

    def _choose(self, rows: PairRows) -> np.ndarray:
        """Pairs that an evaluation reads: drawn once, in order of length, one at least."""
        order = np.random.default_rng([self.config.data.seed, 4]).permutation(rows.passages)
        room = int((np.cumsum(rows.lengths[order]) <= self.config.evaluation.tokens).sum())
        return np.sort(order[: max(1, room)])

    def model(self) -> Model:
        return LanguageModel(self.config.model)

    def objective(self, model: Any) -> nn.Module:
        return NextTokenLoss(model)

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        assert self.held_out is not None and isinstance(objective, NextTokenLoss)
        mine = self.chosen[processes.process_index :: processes.num_processes]
        nats = null = tokens = exact = 0.0
        stopped, training = False, objective.training
        objective.eval()
        for first in range(0, len(mine), lanes):
            stopped = stopped or stop()
            if stopped:
                break
            batch = self.held_out.batch(mine[first : first + lanes].tolist())
            given = batch.on(processes.device)
            with torch.no_grad():
                loss, counted, _ = objective(**given)
            nats, tokens = nats + loss.item(), tokens + counted.item()
            null += float(self._unigram[batch.ids[batch.weight > 0]].sum())
            exact += float(self._exact(objective.model, given["ids"], given["weight"] > 0).sum())
        objective.train(training)
        same = float((self.held_out.targets()[mine] == self._frequent).sum())
        nats, null, tokens, exact, same, stops = sum_over(processes, nats, null, tokens, exact, same, stopped)
        if stops:
            return None
        return {
            self.main: nats / math.log(2) / tokens,
            "exact_match": exact / len(self.chosen),
            "null_bits_per_target_token": null / tokens,
            "null_exact_match": same / len(self.chosen),
            "pairs": len(self.chosen),
            "tokens": round(tokens),
        }

    def _exact(self, model: LanguageModel, ids: torch.Tensor, asked: torch.Tensor) -> torch.Tensor:
        """(B,) bool: whether the answer to the source of each row is its target, end included."""
        begin, most = asked.int().argmax(1), int(asked.sum(1).max())
        places = torch.arange(ids.shape[1], device=ids.device)
        length = int(begin.max())
        allowed = torch.from_numpy(self._allowed).to(ids.device)
        end = self.tokenizer.end
        assert end is not None
        said = greedy(model, ids[:, :length], (places < begin[:, None])[:, :length], allowed, end, most)
        offset = places[: said.shape[1]]
        there = (begin[:, None] + offset).clamp_max(ids.shape[1] - 1)
        right = (said == ids.gather(1, there)) | (offset >= asked.sum(1, keepdim=True))
        return right.all(1) & (asked.sum(1) <= said.shape[1])

    def learned(self, loss: float) -> Figures:
        return {self.main: loss / math.log(2)}

    def said(self, figures: Figures) -> str:
        return (
            f"{figures['exact_match']:.2%} of {int(figures['pairs']):,} held-out targets told exactly (the most "
            f"frequent one {figures['null_exact_match']:.2%}), {figures[self.main]:.4f} bits per token of theirs "
            f"({figures['null_bits_per_target_token']:.4f} by frequencies alone)"
        )

    def notes(self) -> tuple[str, ...]:
        found = []
        if self.longer:
            found.append(
                f"warning: {count(self.longer, 'pair')} of more than {self.config.data.window:,} tokens (data.window) "
                "left out"
            )
        if self.held_out is None:
            found.append("warning: nothing is held out (pairs.held_out), so nothing will say how well the model does")
        elif len(self.chosen) < self.held_out.passages:
            part = f"{len(self.chosen):,} of {self.held_out.passages:,}"
            found.append(f"note: {part} held-out pairs are scored, of evaluation.tokens in all")
        return tuple(found)

    def facts(self) -> dict[str, object]:
        lengths, asked = self.train.lengths, self.train.asked
        settings = self.config.pairs
        return {
            "task": "seq2seq: what follows a source and the separator is its target, up to the end",
            "pairs": f"{settings.source} to {settings.target}; sources of up to {int((lengths - asked).max()) - 1:,} "
            f"tokens, targets of up to {int(asked.max()) - 1:,}",
            "longer pairs left out": f"{self.longer:,}",
            "tokenizer": f"{self.tokenizer.vocabulary:,} ids, {self.tokenizer.digest()[:12]}",
            "separator and end": f"ids {self.tokenizer.separator} and {self.tokenizer.end}",
            "started from": f"{self.config.start or 'nothing'}, {self.config.freeze} frozen",
        }

    @property
    def _allowed(self) -> np.ndarray:
        return writable(self.tokenizer, self.config.model.vocabulary)

    @cached_property
    def _frequent(self) -> int:
        """Digest of the target that the training pairs have most often."""
        found, times = np.unique(self.train.targets(), return_counts=True)
        return found[times.argmax()]

    @cached_property
    def _unigram(self) -> np.ndarray:
        """(V,) bits of each id by its frequency in the targets to learn from, one added to each."""
        counts = np.ones(self.tokenizer.vocabulary) * self._allowed[: self.tokenizer.vocabulary]
        for first in range(0, min(self.train.passages, COUNTED), 1024):
            batch = self.train.batch(range(first, min(first + 1024, self.train.passages)))
            counts += np.bincount(batch.ids[batch.weight > 0], minlength=len(counts))
        with np.errstate(divide="ignore"):
            return -np.log2(counts / counts.sum())


def _held_out(group: np.ndarray, config: TrainConfig) -> np.ndarray:
    """(P,) bool of pairs of these groups (P,): the named groups, or whole ones up to the share, one at least."""
    settings = config.pairs
    if settings.held_out_groups:
        for name in settings.held_out_groups:
            if digest(name) not in group:
                key = settings.group or settings.source
                raise ConfigError(where="pairs.held_out_groups", expected=f"groups of {key!r}", found=repr(name))
        held = np.isin(group, np.array([digest(name) for name in settings.held_out_groups], np.uint64))
        if held.all():
            raise InputError(where="pairs.held_out_groups", expected="some pairs left to learn from", found="none")
        return held
    if not settings.held_out:
        return np.zeros(len(group), bool)
    found, place, sizes = np.unique(group, return_inverse=True, return_counts=True)
    if len(found) == 1:
        raise InputError(
            where=", ".join(config.inputs),
            expected="two sources, or two groups (pairs.group), to hold one out",
            found="one",
            remedy="pairs.held_out=0 learns from all",
        )
    order = np.random.default_rng([config.data.seed, 1]).permutation(len(found))
    fits = np.cumsum(sizes[order]) <= settings.held_out * len(group)
    fits[0], fits[-1] = True, False
    return np.isin(place, order[fits])
