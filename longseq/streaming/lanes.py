"""Lanes: records side by side in one call of the model, in one shape, whatever records there are.

A record is cut into pieces of the lanes' width from its start. Its last piece is padded on the right, without a mask:
what is valid stands before the padding and does not see it, and the lane's state is not used again. A lane without a
record is read as padding too, so that matrix products always have the same shape. A lane whose record ended begins
the next record from the state of nothing read.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from longseq.model import State

if TYPE_CHECKING:
    from longseq.streaming.surprisal import Lanes, Surprisal, Take


class Job:
    """A short record and its bits, filled in as it passes."""

    def __init__(self, ids: np.ndarray, given: int = 0, take: Take | None = None):
        """ids (T,) uint8; the first `given` of them were reported before; `take` gets their hidden vectors."""
        self.ids, self.given, self.take = ids, given, take
        self.bits = np.empty(len(ids), np.float32)
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at == len(self.ids)


class Pool:
    """The lanes of one shape, and the records that wait for one."""

    def __init__(self, surprisal: Surprisal, shape: Lanes):
        self._surprisal, self._shape = surprisal, shape
        self._lanes: list[Job | None] = [None] * shape.number
        self._queue: deque[Job] = deque()
        self._state: State | None = None

    def add(self, job: Job) -> None:
        """Take a record; step while all lanes have one."""
        if not job.done:
            self._queue.append(job)
        while len(self._queue) >= self._lanes.count(None):
            self.step()

    def step(self) -> None:
        """One call of the model: `width` tokens of the record of each lane."""
        ids = np.zeros(self._shape, np.uint8)
        fresh = np.zeros(self._shape.number, bool)
        for i, job in enumerate(self._lanes):
            if job is None and self._queue:
                job = self._lanes[i] = self._queue.popleft()
            fresh[i] = job is None or job.at == 0
            if job is not None:
                piece = job.ids[job.at : job.at + self._shape.width]
                ids[i, : len(piece)] = piece
        before = self._surprisal.side(self._shape.number, self._state, fresh)
        bits, self._state, hidden = self._surprisal.step(ids, before)
        for i, job in enumerate(self._lanes):
            if job is not None:
                length = min(self._shape.width, len(job.ids) - job.at)
                job.bits[job.at : job.at + length] = bits[i, :length]
                if job.take is not None:
                    job.take(ids[i, :length], hidden[i, :length].float())
                job.at += length
                if job.done:
                    self._lanes[i] = None


def alone(surprisal: Surprisal, shape: Lanes, ids: np.ndarray, take: Take | None = None) -> np.ndarray:
    """Bits (T,) of one short record (T,): the same as among others."""
    job, pool = Job(ids, take=take), Pool(surprisal, shape)
    pool.add(job)
    while not job.done:
        pool.step()
    return job.bits
