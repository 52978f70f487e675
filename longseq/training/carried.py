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


def pack(state: Any, processes: Accelerator) -> list[dict[str, Tensor]]:
    """The tensors of the state of each process by name, in rank order; an empty one where there is no state."""
    mine = {} if state is None else {name: tensor.cpu() for name, tensor in named_tensors(state)}
    return gather(processes, mine)


def unpack(states: list[dict[str, Tensor]], objective: nn.Module, batch: Batch, processes: Accelerator) -> Any:
    """This process's state; its form is that of the state after `batch`, the lanes it belongs to."""
    if not states[0]:
        return None
    tensors = iter(states[processes.process_index].values())
    with torch.no_grad():
        form = objective(**batch.on(processes.device))[2]
    return map_tensors(form, lambda like: next(tensors).to(like.device))
