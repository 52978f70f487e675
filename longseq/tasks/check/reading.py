"""Reading in pieces, and how far two readings differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from longseq.model import State
from longseq.model.state import map_tensors
from longseq.ops.memory import Memory

Reader = Callable[[Tensor, Any, Tensor | None], tuple[Tensor, State]]
"""An encoder or a language model: ids, state, mask → outputs, state."""


def read(
    model: Reader, ids: Tensor, sizes: Sequence[int], mask: Tensor | None = None, state: State | None = None
) -> tuple[Tensor, State]:
    """ids (B, T) in pieces of `sizes`, the last size repeated → all outputs (B, T, …) and the last state."""
    outputs, start, waiting = [], 0, list(sizes)
    while start < ids.shape[1]:
        stop = start + (waiting.pop(0) if len(waiting) > 1 else waiting[0])
        y, state = model(ids[:, start:stop], state, None if mask is None else mask[:, start:stop])
        outputs.append(y)
        start = stop
    assert state is not None
    return torch.cat(outputs, 1), state


def lane(state: State, i: int) -> State:
    """The i-th lane of a state, alone."""
    return map_tensors(state, lambda x: x[i : i + 1])


def error(found: Tensor, wanted: Tensor) -> float:
    """Root-mean-square error ratio; the plain norm where zeros are wanted; infinite where anything is not finite."""
    difference, size = (found.double() - wanted.double()).norm(), wanted.double().norm()
    ratio = float(difference / size) if size > 0 else float(difference)
    return ratio if math.isfinite(ratio) else math.inf


def largest_difference(found: Tensor, wanted: Tensor) -> float:
    """Of any two entries: 0.0 says that not one bit differs but the sign of zero."""
    if not found.numel():
        return 0.0
    gap = float((found.double() - wanted.double()).abs().max())
    return gap if math.isfinite(gap) else math.inf


def memories(state: Any) -> list[Memory]:
    """Every memory in a state, in order."""
    if isinstance(state, Memory):
        return [state]
    if isinstance(state, Tensor):
        return []
    return [memory for part in state for memory in memories(part)]


def numbers(state: Any) -> list[Tensor]:
    """A state as comparable numbers: memories by value, a head at a time, since their representation is free."""
    if isinstance(state, Memory):
        return list(state.value().unbind(1))
    if isinstance(state, Tensor):
        return [state]
    return [x for part in state for x in numbers(part)]


def state_error(found: Any, wanted: Any) -> float:
    """The largest `error` of any number in two states."""
    return max((error(a, b) for a, b in zip(numbers(found), numbers(wanted), strict=True)), default=0.0)


def memory_error(found: Any, wanted: Any) -> float:
    """The largest `error` of any memory in two states; 0.0 where they hold none."""
    return state_error(tuple(memories(found)), tuple(memories(wanted)))
