"""The next token of documents, or of DNA in words: a causal language model, judged in bits a letter.

Bits are those of all tokens scored, the end of a document included; letters are those that these tokens came with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from longseq.errors import ConfigError
from longseq.log import count
from longseq.model import LanguageModel, Model
from longseq.records import Interval
from longseq.tokens import DnaTokenizer, load
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.subwords import DnaSubwords
from longseq.training.batch import Batch, Source
from longseq.training.config import TrainConfig
from longseq.training.device import sum_over
from longseq.training.documents import AnyTokenizer, Documents, WordTokenizer
from longseq.training.evaluate import evaluate
from longseq.training.grouping import digest_of
from longseq.training.leakage import warnings
from longseq.training.objective import NextTokenLoss
from longseq.training.passages import Passages
from longseq.training.split import split
from longseq.training.store import Stretches
from longseq.training.tasks.base import Figures, Task

if TYPE_CHECKING:
    from accelerate import Accelerator

COUNTED = 4_000_000
"""Tokens from which the frequencies of the null are known."""


def tokenizer_of(config: TrainConfig) -> AnyTokenizer:
    """That of `data.tokenizer`, or of letters of DNA.

    Raises:
        CheckpointError: no tokenizer.
        ConfigError: one of single letters of DNA, which needs no file.
    """
    if config.data.tokenizer is None:
        return DnaTokenizer(config.data.alphabet)
    found = load(config.data.tokenizer)
    if isinstance(found, StreamTokenizer | DnaSubwords):
        return found
    raise ConfigError(
        where="data.tokenizer",
        expected="a tokenizer of documents, or of DNA in words",
        found="letters of DNA, which are read without one",
        remedy="leave it out",
    )


def fitted(config: TrainConfig, tokenizer: AnyTokenizer) -> TrainConfig:
    """With a vocabulary that holds the ids of the tokenizer, and one that stands for what is hidden."""
    vocabulary = max(config.model.vocabulary, tokenizer.vocabulary + (config.task == "masked"))
    return replace(config, model=replace(config.model, vocabulary=vocabulary))


def facts_of(tokenizer: AnyTokenizer) -> dict[str, object]:
    """Of a tokenizer of words, for the model card."""
    if isinstance(tokenizer, DnaTokenizer):
        return {}
    return {"tokenizer": f"{tokenizer.vocabulary:,} ids, {tokenizer.digest()[:12]}"}


class DocumentTask(Task):
    lower_is_better = True

    tokenizer: WordTokenizer

    def __init__(self, config: TrainConfig, store: Documents):
        self.config, self.store, self.digest = config, store, digest_of(store.digest, config.data)
        self.tokenizer = tokenizer = store.tokenizer
        self.dna = isinstance(tokenizer, DnaSubwords)
        self.unit = "base" if self.dna else "character"
        self.main = f"bits_per_{self.unit}"
        self.split = split(store, config.data, "tokens")
        self.rule, self.bases = self.split.rule, self.split.train.bases
        documents = count(len(np.unique(self.split.train.record)), "record" if self.dna else "document")
        self.described = f"{count(self.bases, 'token')} of {documents}"
        self._scored = np.ones(tokenizer.vocabulary, bool)
        if isinstance(tokenizer, DnaSubwords):
            self._scored[4 : len(tokenizer.alphabet.letters)] = False
        self.train = self._passages(self.split.train, shuffle=True)
        self.to_score = min(config.evaluation.tokens, self.split.held_out.bases)

    def _passages(self, stretches: Stretches, *, shuffle: bool) -> Passages:
        return Passages(self.store, stretches, self.config.data, self._scored, self.config.batch, shuffle=shuffle)

    def model(self) -> Model:
        return LanguageModel(self.config.model)

    def objective(self, model: Any) -> nn.Module:
        return NextTokenLoss(model)

    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        read = _Lettered(self._passages(self.split.held_out, shuffle=False), self._unigram)
        room, slices = self._room(read), self.config.processes.sequence
        found = evaluate(objective, read, processes, tokens=room, lanes=lanes, slices=slices, stop=stop)
        if found is None:
            return None
        letters, null = (value / slices for value in sum_over(processes, read.letters, read.null))
        share = found.tokens / letters if letters else math.nan
        return {
            self.main: found.bits_per_base * share,
            "bits_per_token": found.bits_per_base,
            f"null_bits_per_{self.unit}": null / letters if letters else math.nan,
            "tokens": found.tokens,
            f"{self.unit}s": round(letters),
        }

    def _room(self, read: Source) -> int:
        """Tokens of as many passages, full ones, as hold the tokens asked for: they are shorter than their span."""
        return self.config.evaluation.tokens * read.passages * read.width * read.carry // self.split.held_out.bases

    def learned(self, loss: float) -> Figures:
        return {"bits_per_token": loss / math.log(2)}

    def said(self, figures: Figures) -> str:
        null = figures[f"null_bits_per_{self.unit}"]
        return (
            f"{figures[self.main]:.4f} bits per {self.unit} held out ({figures['bits_per_token']:.4f} per token); "
            f"{null:.4f} by frequencies alone"
        )

    def notes(self) -> tuple[str, ...]:
        found = self.store.notes()
        if self.bases < self.config.data.window:
            found.append(
                f"warning: {count(self.bases, 'token')} are less than one window of {self.config.data.window:,} "
                "(data.window); a model learns little from so few"
            )
        if not self.split.held_out.bases:
            found.append("warning: nothing is held out (data.held_out), so nothing will say how well the model does")
        return tuple(found)

    def leaks(self) -> tuple[str, ...]:
        return warnings(self.store, self.split, self.config.data, self.tokenizer)

    def facts(self) -> dict[str, object]:
        return {
            **facts_of(self.tokenizer),
            "windows": f"up to {self.train.width:,} tokens, state carried over up to {self.train.carry}",
        }

    @cached_property
    def _unigram(self) -> np.ndarray:
        """(V,) bits of each id by its frequency among those to learn from, one added to each."""
        counts = np.ones(len(self._scored))
        train = self.split.train
        every = max(1, self.bases // COUNTED)
        for offset, length in list(zip(train.offset.tolist(), train.length.tolist(), strict=True))[::every]:
            ids = self.store.read(offset, offset + min(length, COUNTED))
            counts += np.bincount(ids, minlength=len(counts))
        counts *= self._scored
        with np.errstate(divide="ignore"):
            return -np.log2(counts / counts.sum())


class Counted:
    """A source that keeps count of what it hands out."""

    def __init__(self, source: Source, unigram: np.ndarray):
        """`unigram` (V,) bits of each id."""
        self._source, self._unigram = source, unigram
        self.passages, self.width, self.carry = source.passages, source.width, source.carry
        self.null = 0.0
        """Bits of what was asked, by frequencies alone."""

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        found = self._source.batch(numbers, phase)
        asked = found.ids if found.targets is None else found.targets
        self.null += float(self._unigram[asked[found.weight > 0]].sum())
        return found

    def places(self, number: int, phase: int) -> list[Interval]:
        return self._source.places(number, phase)


class _Lettered(Counted):
    """Passages that count the letters scored, too."""

    def __init__(self, passages: Passages, unigram: np.ndarray):
        super().__init__(passages, unigram)
        self._passages = passages
        self.letters = 0

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        self.letters += sum(self._passages.letters(number, phase) for number in numbers)
        return super().batch(numbers, phase)
