"""The process that computes: its threads, and the memory that it keeps at hand."""

from __future__ import annotations

import ctypes

import torch

TRIM, MMAP = -1, -3
"""Names of glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD."""
KEPT = 1 << 30
"""Bytes of freed memory that stay with the process."""
LARGEST = 1 << 25
"""Bytes of the largest tensor that comes from kept memory; glibc takes no more."""


def prepare(threads: int | None = None) -> None:
    """Settings of this process for the many short-lived tensors of a few megabytes of a recurrent pass.

    glibc gives such a tensor back to the system when it is freed, and the next one costs a page fault every 4 KiB:
    measured, a fifth to a third of the time of linear attention. Other allocators are left as they are.

    Args:
        threads: of the processor; None leaves their number.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, or none to be asked
        return
    mallopt(MMAP, LARGEST)
    mallopt(TRIM, KEPT)
