"""States that windows hand to the windows after them, kept over a stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from longseq.model.state import map_tensors, named_tensors
from longseq.training.batch import Batch
from longseq.training.device import gather

if TYPE_CHECKING:
    from accelerate import Accelerator


def pack(state: Any, processes: Accelerator, slices: int = 1) -> list[dict[str, Tensor]]:
    """The tensors of states by name, in rank order; an empty one where there is no state.

    One for each `slices` processes: those that share their windows have the same.
    """
    mine = {} if state is None else {name: tensor.cpu() for name, tensor in named_tensors(state)}
    return gather(processes, mine)[::slices]


def unpack(
    states: list[dict[str, Tensor]], objective: nn.Module, batch: Batch, processes: Accelerator, slices: int = 1
) -> Any:
    """This process's state; its form is that of the state after `batch`, the lanes it belongs to."""
    if not states[0]:
        return None
    tensors = iter(states[processes.process_index // slices].values())
    with torch.no_grad():
        form = objective(**batch.on(processes.device))[2]
    return map_tensors(form, lambda like: next(tensors).to(like.device))


def rows(state: Any, first: int, last: int) -> Any:
    """The state of lanes `first` to before `last`; None of None."""
    return None if state is None else map_tensors(state, lambda x: x[first:last])


def joined(states: list[Any]) -> Any:
    """The state of the lanes of all these states, in order; None of Nones."""
    if states[0] is None or len(states) == 1:
        return states[0]
    parts = [(tensor for _, tensor in named_tensors(state)) for state in states]
    return map_tensors(states[0], lambda _: torch.cat([next(part) for part in parts]))
