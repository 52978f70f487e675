"""The state of an encoder: a value that goes in and comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

from torch import Tensor

S = TypeVar("S")


class State(NamedTuple):
    """All that the tokens of B records left behind."""

    layers: tuple[Any, ...]
    """Each mixer's own state, in order."""
    seen: Tensor
    """(B,) int64, valid tokens seen."""
    last: Tensor
    """(B, D), hidden vector of the last valid token: the next token is scored from it. Zeros where nothing was seen."""


def map_tensors(state: S, change: Callable[[Tensor], Tensor]) -> S:
    """The same tuple of tuples with `change` applied to every tensor."""
    before: Any = state
    if isinstance(before, Tensor):
        return cast(S, change(before))
    parts = [map_tensors(part, change) for part in before]
    return cast(S, type(before)(*parts) if hasattr(before, "_fields") else tuple(parts))


def named_tensors(state: Any, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """`layers.0.memory.hi` and its tensor, and so on, in order."""
    if isinstance(state, Tensor):
        yield prefix, state
        return
    names = getattr(state, "_fields", None) or range(len(state))
    for name, part in zip(names, state, strict=True):
        yield from named_tensors(part, f"{prefix}.{name}" if prefix else str(name))


def next_segment(state: State, segment: int) -> State:
    """The same state, after which a new segment of `segment` tokens begins, though the last one was short: a new turn
    of a conversation is read by itself, and the memory goes on. Not for softmax mixers that see earlier
    segments: they count their keys."""
    return state._replace(seen=(state.seen + segment - 1).div(segment, rounding_mode="floor") * segment)


def detach(state: S) -> S:
    """The same state without its history: gradients stop here."""
    return map_tensors(state, Tensor.detach)
