"""Hidden tokens: which ones of a window, and what stands in their place; from the seed and the window alone.

Of DNA, spans are hidden, wherever they begin (Joshi et al. 2020, section 3.1). Of documents, words are hidden whole
(`tokens.boundaries`); a window that begins or ends inside a word has a part of it, which counts as one. What stands in
its place is decided for a span or a word at once: the id for what is hidden, ids drawn at random, or its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from longseq.config import require
from longseq.records import Interval
from longseq.tokens import DnaTokenizer
from longseq.tokens.boundaries import Boundaries
from longseq.tokens.subwords import DnaSubwords
from longseq.training.batch import Batch, Growing, Source
from longseq.training.config import MaskConfig
from longseq.training.documents import AnyTokenizer

LONGEST = 16
"""Tokens of a word at most; longer ones, as of scripts that have no white space, are cut."""


class Hiding:
    """A rule for what is hidden."""

    def __init__(self, config: MaskConfig, tokenizer: AnyTokenizer, known: np.ndarray, seed: int):
        """`known` (V,) says which ids may stand in the place of others.

        Raises:
            ConfigError: spans of documents; shares that are more than all.
        """
        self._share, self._seed = config.share, seed
        self.mask_id = tokenizer.vocabulary
        """The id that stands where a token is hidden."""
        self._choice = np.flatnonzero(known)
        self._span, self._boundaries = 0, None
        if isinstance(tokenizer, DnaTokenizer | DnaSubwords):
            words, usual = isinstance(tokenizer, DnaSubwords), 0.0
            self._span = config.span or (1 if words else 6)
            self.said = f"{self._share:.0%} of the {'words' if words else 'bases'}, in spans of {self._span}"
        else:
            require(config.span is None, "mask.span", config.span, "none of documents, whose words are hidden whole")
            self._boundaries, usual = Boundaries(tokenizer), 0.1
            self.said = f"{self._share:.0%} of the words"
        self._random, self._keep = config.shown(usual)
        if self._random or self._keep:
            self.said += f"; {self._random:.0%} of these read as others, {self._keep:.0%} as they are"

    def __call__(self, ids: np.ndarray, number: int, phase: int) -> tuple[np.ndarray, np.ndarray]:
        """ids (T,) of a window → as they are read (T,), and (T,) bool where it is asked what stood there."""
        draw = np.random.default_rng([self._seed, 3, number, phase])
        if not len(ids):
            return ids, np.zeros(0, bool)
        hidden, part = self._spans(len(ids), draw) if self._boundaries is None else self._words(ids, draw)
        fate = draw.random(int(part[-1]) + 1)[part]
        others = self._choice[draw.integers(len(self._choice), size=len(ids))]
        shown = np.where(fate < self._keep, ids, np.where(fate < self._keep + self._random, others, self.mask_id))
        return np.where(hidden, shown, ids), hidden

    def _spans(self, length: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Where it is hidden, and the number of the span; so often that the share is covered on average."""
        span = self._span
        starts = draw.random(length + span - 1) < 1 - (1 - self._share) ** (1 / span)
        covered = np.convolve(starts, np.ones(span, np.int64))[span - 1 : span - 1 + length]
        return covered > 0, np.cumsum(starts)[span - 1 :]

    def _words(self, ids: np.ndarray, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Where it is hidden, and the number of the word."""
        assert self._boundaries is not None
        place = np.arange(len(ids))
        first = np.maximum.accumulate(np.where(self._boundaries.starts(ids), place, 0))
        part = np.cumsum((place - first) % LONGEST == 0) - 1
        return (draw.random(int(part[-1]) + 1) < self._share)[part], part


class Masked:
    """A source with tokens hidden."""

    def __init__(self, source: Source, hiding: Hiding):
        self._source, self._hiding = source, hiding
        self.width, self.carry, self.passages = source.width, source.carry, source.passages

    def at(self, width: int) -> Masked:
        """The same data in windows of another width."""
        return Masked(cast(Growing, self._source).at(width), self._hiding)

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        """Ids as they are read; targets are the ids as they were, and what is not hidden weighs nothing."""
        whole = self._source.batch(numbers, phase)
        mask = np.ones(whole.ids.shape, bool) if whole.mask is None else whole.mask
        ids, weight = whole.ids.copy(), whole.weight.copy()
        for row, (number, length) in enumerate(zip(numbers, mask.sum(1).tolist(), strict=True)):
            ids[row, :length], hidden = self._hiding(whole.ids[row, :length], number, phase)
            weight[row, :length] *= hidden
        return Batch(ids, weight, whole.ids, mask)

    def places(self, number: int, phase: int) -> list[Interval]:
        return self._source.places(number, phase)
