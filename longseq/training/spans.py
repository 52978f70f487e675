"""Documents that are read once, before the first step.

Where nothing of the encoder is learned, the means of spans of its hidden vectors are all that a head ever sees, and
they are kept. A document of any length is then one short example.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from longseq.log import count
from longseq.model import load
from longseq.records import Interval
from longseq.streaming.hidden import HiddenReader, Job
from longseq.training.batch import Batch
from longseq.training.cache import made
from longseq.training.config import TrainConfig
from longseq.training.order import of_like_length
from longseq.training.records import Records

log = logging.getLogger("longseq")

SPAN = 64
"""Tokens of a span where none are asked for."""
AT_ONCE = 8
"""Documents of a step: they are few, and cost little."""
PIECE = 1 << 14
"""Tokens of a document read at once."""
SAID_EVERY = 60.0
"""Seconds between two words on how far the reading is."""


class Means:
    """The means of the spans of some records, in a file."""

    def __init__(self, file: Path, lengths: np.ndarray, which: np.ndarray, span: int, width: int):
        """`lengths` (R,) tokens of all records, `which` (N,) the rows of those that were read."""
        self.span, self._lengths = span, lengths
        parts = -(-lengths[which] // span)
        self._first = np.zeros(len(lengths), np.int64)
        self._first[which] = np.cumsum(parts) - parts
        self._table = np.memmap(file, np.float32, "r", shape=(max(int(parts.sum()), 1), width))

    def rows(self, record: int) -> np.ndarray:
        """(S,) int64 places of its spans, in order."""
        return self._first[record] + np.arange(-(-int(self._lengths[record]) // self.span))

    def tokens(self, record: int) -> np.ndarray:
        """(S,) int64 tokens of each of its spans."""
        length = int(self._lengths[record])
        return np.minimum(length - np.arange(0, length, self.span), self.span)

    def spread(self, which: np.ndarray) -> tuple[Tensor, Tensor]:
        """Mean (D,) and standard deviation (D,) over the spans of the records `which`; 1 where nothing varies."""
        count, total, squares = 0, np.zeros(self._table.shape[1]), np.zeros(self._table.shape[1])
        for record in which.tolist():
            found = self._table[self.rows(record)].astype(np.float64)
            count, total, squares = count + len(found), total + found.sum(0), squares + (found**2).sum(0)
        mean = total / max(count, 1)
        spread = np.sqrt(np.maximum(squares / max(count, 1) - mean**2, 0))
        spread = np.where(spread > 0, spread, 1.0)
        return torch.from_numpy(mean).float(), torch.from_numpy(spread).float()

    def at(self, rows: Tensor) -> Tensor:
        """(…) places → (…, D) float32 means, on the same device."""
        return torch.from_numpy(np.asarray(self._table[rows.cpu().numpy()])).to(rows.device)


def means(records: Records, which: np.ndarray, config: TrainConfig, span: int, folder: Path) -> Means:
    """Those of the records `which` (N,) under the encoder of `config.start`, read whole, the state carried to the end;
    in `folder`, or as they stand there already."""
    assert config.start is not None
    precision = "bf16" if config.precision == "bf16" else "fp32"
    device = config.device if config.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    reader = HiddenReader(load(config.start, device), precision=precision)
    width, lengths = reader.checkpoint.config.width, records.lengths
    key = f"{records.digest} {reader.checkpoint.sha256} {span} {precision} {sha256(which.tobytes()).hexdigest()}"

    def make(aside: Path) -> None:
        shape = (max(int((-(-lengths[which] // span)).sum()), 1), width)
        table = np.memmap(aside / "means.bin", np.float32, "w+", shape=shape)
        _read(records, which, reader, span, table)
        table.flush()

    name = "spans-" + sha256(key.encode()).hexdigest()[:16]
    return Means(made(name, folder, make) / "means.bin", lengths, which, span, width)


def _read(records: Records, which: np.ndarray, reader: HiddenReader, span: int, table: np.ndarray) -> None:
    first, said = 0, time.monotonic()

    def all_jobs() -> Iterator[Job]:
        nonlocal first
        for record in which.tolist():
            length = int(records.lengths[record])
            starts = range(0, length, PIECE)
            pieces = (records.read(record, a, min(a + PIECE, length)).astype(np.int64) for a in starts)
            parts = -(-length // span)
            yield Job(pieces, _Sums(table[first : first + parts], span).take)
            first += parts

    for done, _ in enumerate(reader.passed(all_jobs()), 1):
        if time.monotonic() - said > SAID_EVERY:
            said = time.monotonic()
            log.info("read: %s of %s", f"{done:,}", count(len(which), records.noun))


class _Sums:
    """Fills the rows of one record's spans as its vectors pass."""

    def __init__(self, rows: np.ndarray, span: int):
        self._rows, self._span, self._tokens = rows, span, 0
        self._open = np.zeros(rows.shape[1])

    def take(self, ids: np.ndarray, hidden: Tensor) -> None:
        place = (self._tokens + np.arange(len(ids))) // self._span
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        sums = np.add.reduceat(hidden.cpu().numpy().astype(np.float64), starts)
        sizes = np.diff(np.append(starts, len(ids)))
        held = self._tokens % self._span
        if held:
            sums[0] += self._open
            sizes[0] += held
        self._rows[place[starts]] = sums / sizes[:, None]
        self._tokens += len(ids)
        self._open = sums[-1]


class SpanExamples:
    """Whole records, each the rows of its spans; the mask of a batch counts the tokens of each. Those of a step are of
    like length. Not shuffled: in order."""

    carry = 1

    def __init__(
        self, records: Records, means: Means, which: np.ndarray, *, width: int, rows: int, seed: int, shuffle: bool
    ):
        """`which` (N,) are rows of `records`; `width` tokens, for those who count them; `rows` records a step."""
        self._records, self._means, self._which = records, means, which
        self.width, self._rows, self._seed, self._shuffle = width, rows, seed, shuffle
        self.passages = len(which)
        self._order: tuple[int, np.ndarray] = (-1, np.zeros(0, np.int64))

    def ask(self, targets: np.ndarray, weight: np.ndarray) -> SpanExamples:
        """`targets` (N, …) and `weight` (N,) of the records."""
        self.targets, self._weight = targets, weight.astype(np.float32)
        return self

    @property
    def tokens(self) -> int:
        return int(self.lengths().sum())

    def lengths(self) -> np.ndarray:
        """(N,) tokens of each record, in order."""
        return self._records.lengths[self._which]

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        chosen = [self._at(number) for number in numbers]
        found = [int(self._which[i]) for i in chosen]
        most = max(1, *(len(self._means.rows(record)) for record in found))
        ids, tokens = np.zeros((2, len(found), most), np.int64)
        for row, record in enumerate(found):
            places = self._means.rows(record)
            ids[row, : len(places)], tokens[row, : len(places)] = places, self._means.tokens(record)
        return Batch(ids, self._weight[chosen] * (tokens.sum(1) > 0), self.targets[chosen], tokens)

    def places(self, number: int, phase: int) -> list[Interval]:
        record = int(self._which[self._at(number)])
        return [self._records.place(record, 0, int(self._records.lengths[record]))]

    def _at(self, number: int) -> int:
        index, at = divmod(number, self.passages)
        if not self._shuffle:
            return at
        known, order = self._order
        if known != index:
            draw = np.random.default_rng([self._seed, 0, index])
            order = of_like_length(self.lengths(), self._rows, draw, index * self.passages)
            self._order = index, order
        return int(order[at])
