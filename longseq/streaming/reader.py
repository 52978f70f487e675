"""One record through the model, its letters pushed as they come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longseq.model import State
from longseq.streaming.lanes import alone
from longseq.streaming.snapshot import Snapshot, require_same

if TYPE_CHECKING:
    from longseq.streaming.surprisal import Surprisal, Take


class Scored(NamedTuple):
    """Consecutive tokens of a record."""

    ids: np.ndarray
    """(T,) uint8."""
    bits: np.ndarray
    """(T,) float32; NaN where a base is not A, C, G or T."""

    def since(self, first: int) -> Scored:
        """Without the first so many."""
        return Scored(self.ids[first:], self.bits[first:])


class SurprisalReader:
    """One record, from front to back.

    `finish` ends it; letters pushed after that go on with it, as an appended record: their readings are those that the
    joined record has.
    """

    def __init__(self, surprisal: Surprisal, start: Snapshot | None = None, take: Take | None = None):
        """`take` gets hidden vectors, as `Surprisal.many` says of `watch`.

        Raises:
            StateError: a reading of another chunk or precision made `start`.
        """
        if start is not None:
            require_same(start, surprisal.chunk, surprisal.precision)
        self._surprisal, self._take = surprisal, take
        self.state: State | None = None if start is None else start.state
        self.position = 0 if start is None else start.position
        """Bases that have passed into `state`."""
        self._waiting = bytearray(b"" if start is None else surprisal.tokenizer.encode(start.carry)[0].tobytes())
        self._given = 0 if start is None else start.given

    def push(self, letters: bytes) -> np.ndarray:
        """float32 bits of each base that is ready, in order; NaN where a base is not A, C, G or T.

        Values lag behind letters by less than a chunk, at the beginning until the record is known to be a long one;
        `finish` gives the rest.

        Raises:
            AlphabetError: a byte outside the alphabet, with its 1-based base number in the record; the piece is left
                out, and what came before stands.
        """
        at = self.position + len(self._waiting)
        return _bits(self.parts(self._surprisal.tokenizer.encode(letters, at)[0]))

    def finish(self) -> np.ndarray:
        """The values not given yet: as many as letters were pushed, in all."""
        return _bits(self.rest())

    def snapshot(self) -> Snapshot:
        """All that a later reader needs to go on from here."""
        letters = self._surprisal.tokenizer.decode(np.frombuffer(bytes(self._waiting), np.uint8))
        return Snapshot(
            state=self.state,
            model_sha256=self._surprisal.checkpoint.sha256,
            position=self.position,
            carry=letters,
            given=max(self._given, self.position),
            chunk=self._surprisal.chunk,
            precision=self._surprisal.precision,
        )

    def parts(self, ids: np.ndarray) -> Iterator[Scored]:
        """The same as `push` with ids (T,) uint8 in the place of letters, chunk by chunk; exhaust it."""
        self._waiting += ids.tobytes()
        if self.position == 0 and len(self._waiting) <= self._surprisal.side_by_side:
            return
        size = self._surprisal.chunk
        held, taken = bytes(self._waiting), 0
        while len(held) - taken >= size:
            chunk = np.frombuffer(held, np.uint8, size, taken)
            bits, self.state, hidden = self._surprisal.step(chunk[None], self.state)
            if self._take is not None:
                self._take(chunk, hidden[0].float())
            taken += size
            del self._waiting[:size]
            self.position += size
            yield self._new(Scored(chunk, bits[0]), self.position - size)

    def rest(self) -> Iterator[Scored]:
        """The same as `finish`, with ids."""
        if not self._waiting:
            return
        # What is read here stays in waiting, and the state in front of it: should more be appended, it is read again.
        ids = np.frombuffer(bytes(self._waiting), np.uint8)
        shape = None if self.position else self._surprisal.lanes(len(ids))
        if shape is None:
            found, _, hidden = self._surprisal.step(ids[None], self.state)
            bits = found[0]
            if self._take is not None:
                self._take(ids, hidden[0].float())
        else:
            bits = alone(self._surprisal, shape, ids, self._take)
        new = self._new(Scored(ids, bits), self.position)
        self._given = self.position + len(ids)
        yield new

    def _new(self, scored: Scored, start: int) -> Scored:
        """What of the tokens from `start` on was not given before."""
        return scored.since(max(self._given - start, 0))


def _bits(parts: Iterator[Scored]) -> np.ndarray:
    arrays = [part.bits for part in parts]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.float32)
