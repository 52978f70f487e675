"""From the number of a step to its batch, one step ahead of the one who asks; and the width of its windows.

Windows may begin short and double (`data.grow`): easy steps first, as many tokens in each. A width lasts to the end of
a passage, so that a state is carried over windows of one width only.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, cast

from longseq.training.batch import Batch, Growing, Source
from longseq.training.config import TrainConfig


class Stage(NamedTuple):
    """Steps that read windows of one width."""

    first: int
    """Steps before it."""
    source: Source
    size: int
    """Windows of a step."""

    @property
    def per_epoch(self) -> float:
        """Steps in which every base is read once."""
        return self.source.passages * self.source.carry / self.size


def stages(source: Source, config: TrainConfig, lanes: int) -> list[Stage]:
    """The stages of a run whose windows are those of `source`, once they have grown.

    A step reads `batch` tokens at any width, rounded down to whole windows, at least one for each of `lanes` processes.
    """
    grow, widths = config.data.grow, list[int]()
    while grow and (width := config.data.shortest << len(widths)) < source.width:
        widths.append(width)
    found, first = [], 0
    for number, width in enumerate(widths, 1):
        narrow = cast(Growing, source).at(width)
        found.append(Stage(first, narrow, max(config.batch // width, lanes)))
        left = max(grow * number // len(widths) - first, 0)
        first += -(-left // narrow.carry) * narrow.carry
    found.append(Stage(first, source, max(config.batch // source.width, lanes)))
    return [stage for n, stage in enumerate(found) if n + 1 == len(found) or found[n + 1].first > stage.first]


class Steps:
    """The batches of a run: each reads a window of each of so many passages, shared out among `world` processes.

    Step s of a stage reads window `s % carry` of its passages.
    """

    def __init__(self, stages: Sequence[Stage], rank: int = 0, world: int = 1):
        self.stages, self._rank, self._world = stages, rank, world
        self.grown = stages[-1]
        """The last stage, whose windows are the widest."""
        self.sizes = [stage.size for stage in stages]
        """Windows of a step, in each stage."""
        self.carries = any(stage.source.carry > 1 for stage in stages)
        """Whether any step hands on a state."""

    def epochs(self, step: int) -> float:
        """How often the first `step` steps read every base, on average."""
        ends = [*(stage.first for stage in self.stages[1:]), step]
        return sum(
            (min(end, step) - stage.first) / stage.per_epoch
            for stage, end in zip(self.stages, ends, strict=True)
            if stage.first < step
        )

    def until(self, epochs: float) -> int:
        """The fewest steps that do so, so often."""
        *_, last = (stage for stage in self.stages if self.epochs(stage.first) <= epochs)
        return last.first + math.ceil((epochs - self.epochs(last.first)) * last.per_epoch)

    def passages(self, step: int) -> range:
        """The passages of a step that are this process's."""
        stage, nth = self._at(step)
        first = nth // stage.source.carry * stage.size
        return range(first + self._rank, first + stage.size, self._world)

    def fresh(self, step: int) -> bool:
        """Whether the step starts without a state."""
        return self._phase(step) == 0

    def batch(self, step: int) -> Batch:
        return self._at(step)[0].source.batch(self.passages(step), self._phase(step))

    def of_all(self) -> Steps:
        """The batches of all processes together."""
        return Steps(self.stages)

    def places(self, step: int) -> list[list[dict]]:
        """Record, start, end and strand of the pieces of each of this process's windows."""
        source, phase = self._at(step)[0].source, self._phase(step)
        return [
            [{"record": p.record, "start": p.start, "end": p.end, "strand": p.strand} for p in places]
            for places in (source.places(number, phase) for number in self.passages(step))
        ]

    def said(self) -> str:
        """How windows grow, for people; nothing where they do not."""
        if len(self.stages) == 1:
            return ""
        first, *others = ((stage.source.width, stage.first + 1) for stage in self.stages)
        return f"{first[0]:,} tokens, " + ", ".join(f"{width:,} from step {step:,}" for width, step in others)

    def _at(self, step: int) -> tuple[Stage, int]:
        """The stage of a step, and which step of it this is."""
        stage = self.stages[bisect_right(self.stages, step, key=lambda stage: stage.first) - 1]
        return stage, step - stage.first

    def _phase(self, step: int) -> int:
        stage, nth = self._at(step)
        return nth % stage.source.carry


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
