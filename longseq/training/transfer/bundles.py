"""Which texts a step reads: some of about one length, so that little of it is padding, and as many as make a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longseq.records import Interval
from longseq.training.batch import Batch
from longseq.training.transfer.texts import Texts

ALIKE = 8
"""Tokens by which the texts of a step may differ in length where there are many."""


class Shuffled:
    """Rows of one kind in bundles: of like length, others together each epoch, in random order."""

    def __init__(self, rows: np.ndarray, lengths: np.ndarray, batch: int, seed: Sequence[int]):
        """`rows` (N,) of `lengths` (N,) tokens; a bundle has at most `batch` tokens, padding included."""
        self._rows, self._seed, self.tokens = rows, list(seed), int(lengths.sum())
        self._size = -(-lengths // ALIKE)
        sizes = np.sort(self._size)[::-1] * ALIKE
        bounds = [0]
        while bounds[-1] < len(rows):
            bounds.append(min(bounds[-1] + max(batch // int(sizes[bounds[-1]]), 1), len(rows)))
        self._bounds = np.array(bounds)
        self._epoch: tuple[int, np.ndarray, np.ndarray] | None = None

    def __len__(self) -> int:
        """Bundles an epoch."""
        return len(self._bounds) - 1

    def rows(self, number: int) -> np.ndarray:
        """(B,) those of a bundle, numbered on from epoch to epoch."""
        epoch, at = divmod(number, len(self))
        if self._epoch is None or self._epoch[0] != epoch:
            draw = np.random.default_rng([*self._seed, epoch])
            order = draw.permutation(len(self._rows))
            order = order[np.argsort(-self._size[order], kind="stable")]
            self._epoch = epoch, order, draw.permutation(len(self))
        _, order, turns = self._epoch
        turn = int(turns[at])
        return self._rows[order[self._bounds[turn] : self._bounds[turn + 1]]]


class Bundles:
    """A source whose passages are whole steps: bundles of segments, and bundles of sentences, in random order.

    An epoch reads every segment once, and beside them as many sentences as make up their share; without segments every
    sentence once.
    """

    carry = 1

    def __init__(self, texts: Texts, rows: np.ndarray, *, batch: int, sentences: float, seed: int):
        """`rows` (N,) are those to read, `batch` the tokens of a step, `sentences` their share of them."""
        self._texts, self._seed, self.width = texts, seed, batch
        found = [rows[texts.sentence[rows] == kind] for kind in (False, True)]
        if sentences == 1 and len(found[1]):
            found[0] = found[0][:0]
        self._kinds = [Shuffled(some, texts.lengths[some], batch, (seed, n)) for n, some in enumerate(found)]
        segments, spoken = map(len, self._kinds)
        if segments and spoken:
            spoken = round(segments * sentences / (1 - sentences))
        self._share = segments, spoken
        self.passages = segments + spoken
        self._turns: tuple[int, np.ndarray] | None = None

    def batch(self, numbers: Sequence[int], phase: int = 0) -> Batch:
        return padded(self._texts, np.concatenate([self._rows(number) for number in numbers]))

    def places(self, number: int, phase: int = 0) -> list[Interval]:
        """Where the texts of a step stand."""
        found = (self._texts.place(int(row)) for row in self._rows(number))
        return [Interval(record=name, start=start, end=end, strand="+") for name, start, end in found]

    @property
    def tokens(self) -> int:
        """Of an epoch, padding aside, about."""
        return sum(
            int(kind.tokens * share / max(len(kind), 1)) for kind, share in zip(self._kinds, self._share, strict=True)
        )

    def _rows(self, number: int) -> np.ndarray:
        epoch, at = divmod(number, self.passages)
        if self._turns is None or self._turns[0] != epoch:
            draw = np.random.default_rng([self._seed, 2, epoch])
            self._turns = epoch, draw.permutation(self.passages)
        turn, (segments, spoken) = int(self._turns[1][at]), self._share
        if turn < segments:
            return self._kinds[0].rows(epoch * segments + turn)
        return self._kinds[1].rows(epoch * spoken + turn - segments)


def padded(texts: Texts, rows: np.ndarray) -> Batch:
    """These rows, padded on the right to the longest."""
    ids, inside = padded_ids([texts.ids(int(row)) for row in rows])
    return Batch(ids, inside.astype(np.float32), mask=None if inside.all() else inside)


def padded_ids(texts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Ids (B, T) of texts, (T,) or shorter, padded on the right to the longest, and where they are valid (B, T)."""
    lengths = np.array([len(ids) for ids in texts])
    inside = np.arange(int(lengths.max())) < lengths[:, None]
    ids = np.zeros(inside.shape, np.int64)
    ids[inside] = np.concatenate(texts)
    return ids, inside
