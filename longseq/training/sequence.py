"""Processes that share windows along time: each reads a slice, and asks its neighbours for what stands before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from longseq.errors import ConfigError
from longseq.model.state import map_tensors, named_tensors
from longseq.ops.slices import Slices

if TYPE_CHECKING:
    from accelerate import Accelerator


class Place:
    """Where a process stands: in which lane, and which slice of the lane's windows it reads.

    The processes of a lane are neighbours in rank; lanes share out the windows of a step.
    """

    def __init__(self, processes: Accelerator, slices: int):
        """Raises ConfigError unless the processes make whole lanes of so many slices."""
        if processes.num_processes % slices:
            raise ConfigError(
                where="processes.sequence",
                expected=f"a divisor of the number of processes, {processes.num_processes}",
                found=str(slices),
                remedy="start a multiple of it with torchrun or srun",
            )
        self.slices, self.lanes = slices, processes.num_processes // slices
        self.lane, self.slice = divmod(processes.process_index, slices)
        self._device = processes.device
        self._group: dist.ProcessGroup | None = None
        if slices > 1:
            groups = [dist.new_group([*range(n * slices, (n + 1) * slices)]) for n in range(self.lanes)]
            self._group = groups[self.lane]

    def share(self, objective: nn.Module, carries: bool) -> nn.Module:
        """The loss of this process's slice of the windows it is called with; `objective` itself if there is but one."""
        return objective if self._group is None else _Sliced(objective, self, self._group, carries)

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any process of this lane."""
        if self._group is None:
            return flag
        total = torch.tensor([float(flag)], device=self._device)
        dist.all_reduce(total, group=self._group)
        return total.item() > 0

    def of_last(self, state: Any) -> Any:
        """The state of the last process of this lane, without its history, in all of them."""
        packed = torch.cat([part.detach().flatten().view(torch.uint8) for _, part in named_tensors(state)])
        dist.broadcast(packed, (self.lane + 1) * self.slices - 1, group=self._group)
        pieces = iter(packed.split([part.nbytes for _, part in named_tensors(state)]))
        # A copy: a piece may begin where no number of its type may.
        return map_tensors(state, lambda like: next(pieces).clone().view(like.dtype).view(like.shape))


class _Sliced(nn.Module):
    def __init__(self, objective: nn.Module, place: Place, group: dist.ProcessGroup, carried: bool):
        super().__init__()
        self.objective = objective
        self._place, self._group, self._carried = place, group, carried

    def forward(self, ids: Tensor, weight: Tensor, state: Any = None) -> tuple[Tensor, Tensor, Any]:
        """ids and weight (B, T) of whole windows → the sums of this slice, and the state after the whole windows."""
        ids, weight = (x.tensor_split(self._place.slices, 1)[self._place.slice] for x in (ids, weight))
        exchange = Slices(self._group, ids.new_full(ids.shape[:1], ids.shape[1]))
        loss, counted, after = self.objective(ids, weight, state, exchange)
        return exchange.bind(loss), counted, self._place.of_last(after) if self._carried else after
