"""Slices of the same records in processes side by side: what stands before each, gathered and folded, with gradients.

`dist.all_gather` alone gives wrong gradients without a word. Here each gather has one collective backward, an
all-reduce; and whatever a process makes of what it gathered, its share of the graph holds every gather, so that none
waits in the backward pass for one that never comes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd.function import once_differentiable

from longseq.ops.memory import Memory, normalise, pow2
from longseq.ops.padding import take


class Slices:
    """An exchange over the processes of a group, whose r-th one holds the r-th slice. One for each call of a model."""

    def __init__(self, group: dist.ProcessGroup, valid: Tensor):
        """`valid` (B,) int64: the valid tokens of this process's slice."""
        self._group, self._rank = group, dist.get_rank(group)
        self._valid = _all_gather(valid, group)
        self._last: Tensor | None = None

    def tail(self, mine: Tensor, start: Tensor) -> Tensor:
        """See `Exchange`."""
        gathered, start = self._gather(mine, start)
        if self._rank == 0:
            return start
        tail = gathered[0]
        for valid, after in zip(self._valid[1 : self._rank], gathered[1 : self._rank], strict=True):
            tail = _moved_on(tail, after, valid)
        return tail

    def memory(self, mine: Memory, log_decay: Tensor | None, start: Memory) -> Memory:
        """See `Exchange`."""
        if log_decay is None:
            return self._before(mine, mine.hi.new_zeros(*mine.hi.shape[:2], 0), start, lambda _, value: value)
        return self._before(mine, log_decay.double().exp()[..., None], start, torch.mul)

    def affine(self, transition: Tensor, mine: Memory, start: Memory) -> Memory:
        """See `Exchange`."""
        return self._before(mine, transition, start, torch.matmul)

    def seen(self, start: Tensor) -> Tensor:
        """See `Exchange`."""
        first = _all_gather(start, self._group)[0]
        return first + self._valid[: self._rank].sum(0)

    def bind(self, loss: Tensor) -> Tensor:
        """The loss of this slice, unchanged, from which every gather of this call is reached on the way back.

        Needed where the loss of some process may not depend on its hidden vectors.
        """
        return loss if self._last is None else _Bound.apply(loss, self._last)

    def _gather(self, mine: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
        gathered, start = _Gather.apply(mine, start, self._group)
        self._last = start
        return gathered, start

    def _before(self, mine: Memory, passed: Tensor, start: Memory, after: Callable[[Tensor, Tensor], Tensor]) -> Memory:
        """`start` behind all slices to the left; `after(passed, S)` is what a slice leaves of a memory S before it."""
        value, exponent = mine.wide(), mine.exponent
        if self._rank == 0:
            value, exponent = _joined(after(passed, start.wide()), start.exponent, value, exponent)
        parts = (value, passed.double(), exponent.double())
        packed = torch.cat([part.flatten(1) for part in parts], 1)
        gathered, front = self._gather(packed, start.wide())
        if self._rank == 0:
            return Memory.split(front, start.exponent, mine.hi.dtype)
        sizes = [part[0].numel() for part in parts]
        values, passes, exponents = (
            piece.unflatten(-1, part.shape[1:])
            for piece, part in zip(gathered[: self._rank].split(sizes, -1), parts, strict=True)
        )
        value, exponent = values[0], exponents[0].int()
        for n in range(1, self._rank):
            value, exponent = _joined(after(passes[n], value), exponent, values[n], exponents[n].int())
        return Memory.split(*normalise(value, exponent), mine.hi.dtype)


class _Gather(torch.autograd.Function):
    """What all processes hold, stacked (R, …), and what stands before the first slice.

    The latter only passes through: by it the first process, which uses none of the former, takes part in the backward
    collective as well.
    """

    @staticmethod
    def forward(ctx, mine, start, group):
        ctx.group = group
        return _all_gather(mine, group), start.view_as(start)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_all, grad_start):
        if not ctx.needs_input_grad[0]:
            return None, grad_start, None
        grad_all = grad_all.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(grad_all, group=ctx.group)
        return grad_all[dist.get_rank(ctx.group)], grad_start, None


class _Bound(torch.autograd.Function):
    """The first, with a gradient of zero for the second."""

    @staticmethod
    def forward(ctx, kept, other):
        ctx.shape, ctx.dtype = other.shape, other.dtype
        return kept.view_as(kept)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        return gradient, gradient.new_zeros(ctx.shape, dtype=ctx.dtype)


def _all_gather(mine: Tensor, group: dist.ProcessGroup) -> Tensor:
    mine = mine.contiguous()
    parts = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, mine, group=group)
    return torch.stack(parts)


def _moved_on(tail: Tensor, after: Tensor, valid: Tensor) -> Tensor:
    """The last W-1 inputs of those in `tail` (B, W-1, C) and the last `valid` (B,) of those in `after`."""
    width = tail.shape[1]
    place = torch.arange(width, device=tail.device)
    valid = valid[:, None].clamp_max(width)
    return take(torch.cat([tail, after], 1), torch.where(place < width - valid, place + valid, place + width))


def _joined(value: Tensor, exponent: Tensor, added: Tensor, its: Tensor) -> tuple[Tensor, Tensor]:
    """The sum of `value * 2**exponent` and `added * 2**its`, in units of the larger of the two."""
    value, exponent = normalise(value, exponent)
    unit = torch.maximum(exponent, its)
    return value * pow2(exponent - unit)[..., None, None] + added * pow2(its - unit)[..., None, None], unit
