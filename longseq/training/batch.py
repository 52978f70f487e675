"""What a step reads, and who makes it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from longseq.records import Interval


class Batch(NamedTuple):
    """B windows of one step."""

    ids: np.ndarray
    """(B, T) int64."""
    weight: np.ndarray
    """(B, T) or (B,) float32: how much each token, or each record, counts; 0 where nothing is asked."""
    targets: np.ndarray | None = None
    """What is asked, in the form that the task's loss takes; None: the ids themselves."""
    mask: np.ndarray | None = None
    """(B, T) bool, True where there is a token, or how many tokens stand for each id; None: everywhere."""

    @property
    def tokens(self) -> float:
        """Tokens that are learned from: those of the mask, else those that weigh."""
        return float((self.weight if self.mask is None else self.mask).sum())

    @property
    def size(self) -> int:
        """Tokens that are read, padding included where ids are tokens."""
        counted = self.mask is not None and self.mask.dtype != bool
        return int(self.mask.sum()) if counted and self.mask is not None else self.ids.size

    def parts(self, count: int) -> list[Batch]:
        """Neighbouring windows together, in so many parts, fewer where there are not so many windows."""
        bounds = np.linspace(0, len(self.ids), min(count, len(self.ids)) + 1).astype(int).tolist()
        return [self._rows(slice(a, b)) for a, b in pairwise(bounds)]

    def _rows(self, here: slice) -> Batch:
        targets, mask = (x if x is None else x[here] for x in (self.targets, self.mask))
        return Batch(self.ids[here], self.weight[here], targets, mask)

    def on(self, device: torch.device) -> dict[str, Tensor]:
        """The arrays that are there, by name, as tensors on a device."""
        return {name: torch.from_numpy(array).to(device) for name, array in self._asdict().items() if array is not None}


class Source(Protocol):
    """Passages of `carry` windows of `width` tokens, numbered on from epoch to epoch."""

    @property
    def width(self) -> int: ...
    @property
    def carry(self) -> int: ...
    @property
    def passages(self) -> int:
        """Passages of an epoch."""
        ...

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        """Window `phase` of each of these passages; the same one for the same numbers, at any time."""
        ...

    def places(self, number: int, phase: int) -> list[Interval]:
        """Where the tokens of a window come from."""
        ...


class Growing(Source, Protocol):
    """A source whose windows may be narrower at first."""

    def at(self, width: int) -> Source:
        """The same data in windows of another width."""
        ...
