"""From the number of a step to its batch, one step ahead of the one who asks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from longseq.training.batch import Batch, Source


class Steps:
    """The batches of a run: step s reads window `s % carry` of `size` passages, shared out among `world` processes."""

    def __init__(self, windows: Source, size: int, rank: int = 0, world: int = 1):
        self.windows, self.size, self._rank, self._world = windows, size, rank, world
        self.carry = windows.carry

    @property
    def per_epoch(self) -> float:
        """Steps in which every base is read once."""
        return self.windows.passages * self.carry / self.size

    def passages(self, step: int) -> range:
        """The passages of a step that are this process's."""
        first = step // self.carry * self.size
        return range(first + self._rank, first + self.size, self._world)

    def fresh(self, step: int) -> bool:
        """Whether the step starts without a state."""
        return step % self.carry == 0

    def batch(self, step: int) -> Batch:
        return self.windows.batch(self.passages(step), step % self.carry)

    def places(self, step: int) -> list[list[dict]]:
        """Record, start, end and strand of the pieces of each of this process's windows."""
        return [
            [{"record": p.record, "start": p.start, "end": p.end, "strand": p.strand} for p in places]
            for places in (self.windows.places(number, step % self.carry) for number in self.passages(step))
        ]


class Ahead:
    """Calls `make(step)` in a thread of its own for the step after the last one asked for."""

    def __init__(self, make: Callable[[int], Batch]):
        self._make, self._pool = make, ThreadPoolExecutor(1, "batches")
        self._next: tuple[int, Future[Batch]] | None = None

    def get(self, step: int) -> Batch:
        if self._next is None or self._next[0] != step:
            self._next = step, self._pool.submit(self._make, step)
        batch = self._next[1].result()
        self._next = step + 1, self._pool.submit(self._make, step + 1)
        return batch

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
