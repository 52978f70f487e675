"""The seam between processes that each hold one slice of the same records, in rank order along time."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from longseq.ops.memory import Memory


class Exchange(Protocol):
    """What a model asks of its neighbours. Every process calls the same methods in the same order.

    The first slice starts from the state handed to it, every other from what the slices before it left.
    """

    def tail(self, mine: Tensor, start: Tensor) -> Tensor:
        """Inputs that stand before this slice.

        Args:
            mine: (B, W-1, C), the last valid inputs up to the end of this slice. Where the slice has fewer, those in
                front of them are read in the first slice only.
            start: (B, W-1, C), the tail in front of the first slice.

        Returns:
            (B, W-1, C): the last valid inputs of all slices to the left, behind `start`.
        """

    def memory(self, mine: Memory, log_decay: Tensor | None, start: Memory) -> Memory:
        """The memory that stands before this slice.

        Args:
            mine: what this slice alone adds to an empty memory.
            log_decay: (B, H, K or 1), the log-decay of this whole slice, or None.
            start: the memory in front of the first slice.

        Returns:
            `start` decayed by, and joined with, all slices to the left (prefix fold in rank order).
        """

    def affine(self, transition: Tensor, mine: Memory, start: Memory) -> Memory:
        """The memory that stands before this slice, where a slice turns a memory S into M S + N.

        Args:
            transition: (B, H, K, K) float64, M of this slice.
            mine: N, what this slice alone adds to an empty memory.
            start: the memory in front of the first slice.

        Returns:
            `start` after all slices to the left, in rank order.
        """

    def seen(self, start: Tensor) -> Tensor:
        """(B,) int64, valid tokens before this slice; `start`: those in front of the first."""
