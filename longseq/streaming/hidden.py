"""Hidden vectors along records: one reading after another, short ones side by side, each handed on as it passes.

How a record is read depends on its own length alone, as in `longseq.streaming.surprisal`: records of up to 8,192 tokens
go side by side with others of about their length, in one shape; longer ones, and those of an encoder whose state grows,
go alone, in chunks. Of an encoder that looks ahead inside segments, records of up to a segment, and 512 tokens, go side
by side, each whole in one call, with what a lane holds behind its tokens masked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from longseq.config import LONGEST_CHUNK, require, require_one
from longseq.errors import InputError
from longseq.model import Checkpoint, State
from longseq.streaming.surprisal import CHUNK, MIDDLE, MIDDLE_WIDTH, SHORT, Lanes, even_shares, grows
from longseq.streaming.tracks import beginning

FINAL = "final"
"""The layer that heads read: the last one's output behind the last norm."""
WAITING = 1 << 24
"""Numbers of hidden vectors of the records that may wait for the one in front of them, read or not."""
WHOLE = 1024
"""Tokens a call that reads whole records side by side: more are hardly faster, and the last call of a shape is seldom
full."""
AHEAD = 512
"""Tokens a call, unless told otherwise, of an encoder that looks ahead inside segments, in whole segments. More are a
few percent faster at most, and cost memory: what one call frees lies in pieces when the next one asks."""
STEP = 8
"""Widths of lanes that hold whole records are multiples of so many tokens."""


class Job:
    """One reading of one record, in the order of `pieces`.

    `take` is called with ids (t,) and their hidden vectors (t, D), on the encoder's device, in order, and with each
    token once.
    """

    def __init__(self, pieces: Iterable[np.ndarray], take: Callable[[np.ndarray, Tensor], None]):
        self.pieces, self.take = iter(pieces), take
        self.ids = np.zeros(0, np.int64)
        """Of a short record, until it has passed."""
        self.error: InputError | None = None
        """What ended the record before its end."""
        self.done = False


class HiddenReader:
    """An encoder that reads records, and the layer that is looked at."""

    def __init__(
        self, checkpoint: Checkpoint, *, layer: str = FINAL, chunk: int | None = None, precision: str = "fp32"
    ):
        """`layer` as `layer_names` spells it; `chunk` tokens a call, up to `LONGEST_CHUNK`, None: 2,048, or `AHEAD`;
        `precision` fp32 or bf16.

        Raises:
            ConfigError: a layer, chunk or precision that cannot be.
        """
        known = chunk is None or 1 <= chunk <= LONGEST_CHUNK
        require(known, "chunk", chunk, f"1 to {LONGEST_CHUNK:,} tokens")
        require(precision in ("fp32", "bf16"), "precision", precision, "'fp32' or 'bf16'")
        names = layer_names(checkpoint.config.layers)
        self.layer = names[int(layer)] if layer.isdigit() and int(layer) < len(names) else layer
        require_one("layer", self.layer, names, f"0 to {len(names) - 1}, or one of ")
        self.checkpoint, self.precision = checkpoint, precision
        self.encoder = checkpoint.model.encoder
        self.device = self.encoder.embedding.weight.device
        self._segment = checkpoint.config.segment if checkpoint.config.visibility == "segment" else 0
        self._at_once = min(chunk or WHOLE, WHOLE)
        self.chunk = chunk or (AHEAD if self._segment else CHUNK)
        if self._segment:
            self.chunk = -(-self.chunk // self._segment) * self._segment
        self._module: nn.Module | None = None
        if self.layer != FINAL:
            number = names.index(self.layer)
            self._module = self.encoder.embedding if number == 0 else self.encoder.layers[number - 1]

    def step(self, ids: np.ndarray, state: State | None, mask: np.ndarray | None = None) -> tuple[Tensor, State]:
        """Hidden vectors (B, T, D) float32 of T more tokens (B, T) of B records, and the state after them; mask (B, T)
        bool, True where valid; None: all are."""
        tokens = torch.from_numpy(ids.astype(np.int64)).to(self.device)
        seen: list[Tensor] = []
        handle = None
        if self._module is not None:
            handle = self._module.register_forward_hook(
                lambda _, __, out: seen.append(out[0] if isinstance(out, tuple) else out)
            )
        try:
            with torch.inference_mode(), even_shares(len(ids)):
                with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
                    valid = None if mask is None else torch.from_numpy(mask).to(self.device)
                    hidden, state = self.encoder(tokens, state, valid)
        finally:
            if handle is not None:
                handle.remove()
        return (seen[0] if seen else hidden).float(), state

    @cached_property
    def side_by_side(self) -> int:
        """Tokens of the longest record that is read side by side with others; 0 where the encoder cannot."""
        if self._segment:
            return min(self._segment, WHOLE // 2)
        return 0 if grows(self.encoder) else MIDDLE

    def shape(self, length: int) -> tuple[int, Lanes]:
        """Of a short record: a bound of the records of about its length, and their lanes. The bound is a power of two;
        of those that are read whole, whose padding costs, one of four between two powers of two."""
        if self._segment:
            step = max(STEP, 1 << max((length - 1).bit_length() - 3, 0))
            width = min(-(-length // step) * step, self._segment)
            number = max(self._at_once // width, 1)
            # An even number: two threads share the lanes out at the end of one.
            return width, Lanes(number - number % 2 if number > 1 else 1, width)
        bound = max(SHORT, 1 << (length - 1).bit_length())
        width = min(bound, MIDDLE_WIDTH, self.chunk)
        return bound, Lanes(max(min(self.chunk, CHUNK) // width, 1), width)

    def passed(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """The jobs, in order, each when it has passed. The next one is asked for only when the pieces of the one before
        have been walked to their end."""
        order: deque[tuple[Job, int]] = deque()
        pools: dict[int, list[Job]] = {}
        waiting, limit = 0, WAITING // self.encoder.config.width

        def ready(most: int) -> Iterator[Job]:
            """Those in front that are done; others are read until at most `most` tokens wait."""
            nonlocal waiting
            while order:
                job, length = order[0]
                if not job.done:
                    if waiting <= most:
                        return
                    self._together(pools.pop(self.shape(length)[0]))
                order.popleft()
                waiting -= length
                yield job

        for job in jobs:
            try:
                held = beginning(job.pieces, self.side_by_side)
            except InputError as error:
                job.error, job.done = error, True
                order.append((job, 0))
                continue
            ids = np.concatenate([np.zeros(0, np.int64), *held])
            if len(ids) > self.side_by_side:
                yield from ready(0)
                self._alone(job, ids)
                yield job
                continue
            order.append((job, len(ids)))
            waiting += len(ids)
            job.ids, job.done = ids, len(ids) == 0
            if not job.done:
                bound, lanes = self.shape(len(ids))
                pool = pools.setdefault(bound, [])
                pool.append(job)
                if len(pool) == lanes.number:
                    self._together(pools.pop(bound))
            yield from ready(limit)
        yield from ready(0)

    def _together(self, jobs: list[Job]) -> None:
        """Short records of one shape. A lane's padding stands behind its tokens. They do not see it, or, where they
        look ahead, are told by a mask."""
        lanes = self.shape(len(jobs[0].ids))[1]
        state = None
        for start in range(0, max(len(job.ids) for job in jobs), lanes.width):
            ids, valid = np.zeros(lanes, np.int64), np.zeros(lanes, bool)
            pieces = [job.ids[start : start + lanes.width] for job in jobs]
            for row, piece in enumerate(pieces):
                ids[row, : len(piece)], valid[row, : len(piece)] = piece, True
            hidden, state = self.step(ids, state, valid) if self._segment else self.step(ids, state)
            for row, (job, piece) in enumerate(zip(jobs, pieces, strict=True)):
                if len(piece):
                    job.take(piece, hidden[row, : len(piece)])
        for job in jobs:
            job.done, job.ids = True, np.zeros(0, np.int64)

    def _alone(self, job: Job, held: np.ndarray) -> None:
        state = None
        try:
            for ids in _chunks(held, job.pieces, self.chunk):
                hidden, state = self.step(ids[None], state)
                job.take(ids, hidden[0])
        except InputError as error:
            job.error = error
        job.done = True


def layer_names(layers: int) -> list[str]:
    """`embedding`, `layer1` to the last one, and `final`: behind the last norm, what heads read. Their places in the
    list are their numbers."""
    return ["embedding", *(f"layer{i + 1}" for i in range(layers)), FINAL]


def _chunks(held: np.ndarray, pieces: Iterator[np.ndarray], size: int) -> Iterator[np.ndarray]:
    """`held` and what follows, cut at multiples of `size`."""
    while True:
        for start in range(0, len(held) // size * size, size):
            yield held[start : start + size]
        held = held[len(held) // size * size :]
        piece = next(pieces, None)
        if piece is None:
            break
        held = np.concatenate([held, piece])
    if len(held):
        yield held
