"""Bits per base of what was held out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import nn

from longseq.training.batch import Source
from longseq.training.device import sum_over

if TYPE_CHECKING:
    from accelerate import Accelerator


class HeldOut(NamedTuple):
    bits_per_base: float
    """Mean over the bases scored; NaN where there were none."""
    tokens: int
    """Bases scored."""


def evaluate(
    objective: nn.Module,
    windows: Source,
    processes: Accelerator,
    *,
    tokens: int,
    lanes: int,
    slices: int = 1,
    stop: Callable[[], bool] = lambda: False,
) -> HeldOut | None:
    """Score passages of `windows`, `spread` over it, of at most `tokens` bases, `lanes` at a time.

    As in training, the state is carried over the windows of a passage. None if `stop` came true in any process. Where
    `slices` processes share each window, `stop` says the same in all of them.
    """
    mine = slice(processes.process_index // slices, None, processes.num_processes // slices)
    chosen = spread(windows, tokens)[mine]
    nats = weight = 0.0
    stopped = False
    objective.eval()
    with torch.no_grad():
        for first in range(0, len(chosen), lanes):
            state = None
            for phase in range(windows.carry):
                stopped = stopped or stop()
                if stopped:
                    break
                batch = windows.batch(chosen[first : first + lanes], phase)
                loss, counted, state = objective(**batch.on(processes.device), state=state)
                nats, weight = nats + loss.item(), weight + counted.item()
    objective.train()
    nats, weight, stops = sum_over(processes, nats, weight, stopped)
    if stops:
        return None
    return HeldOut(nats / math.log(2) / weight if weight else math.nan, round(weight))


def spread(windows: Source, tokens: int) -> list[int]:
    """Passages, evenly spread, of at most `tokens` bases; one at least."""
    count = min(windows.passages, max(1, tokens // (windows.width * windows.carry)))
    return [i * windows.passages // count for i in range(count)]
