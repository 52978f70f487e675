"""Peak memory of a stretch of work in this process."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

import torch

from longseq.results.run import peak_rss_mb

STATUS = Path("/proc/self/status")


class MemoryMeter:
    """MiB by which memory grew at most since the meter was made: resident memory, or an accelerator's own."""

    def __init__(self, device: torch.device):
        self._device = device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
            self._before = torch.cuda.memory_allocated(device) / 2**20
            return
        with suppress(OSError):
            # The system's own record begins anew here; where it cannot, it began with the process, which is young.
            Path("/proc/self/clear_refs").write_text("5")
        self._before = _status("VmRSS") or peak_rss_mb()

    def peak_mb(self) -> float | None:
        """None where the system does not say."""
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device) / 2**20 - self._before
        peak = _status("VmHWM") or peak_rss_mb()
        return max(peak - self._before, 0.0) if peak else None


class _Mallinfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks")),
        *((name, ctypes.c_size_t) for name in ("uordblks", "fordblks", "keepcost")),
    ]


def in_use_mb() -> float | None:
    """MiB that are handed out to this process: what is resident beyond is free memory that glibc keeps, in pieces, and
    how much that is hangs on how they lie. None where the C library does not say."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return None
    ask.restype = _Mallinfo
    found = ask()
    return (found.uordblks + found.hblkhd) / 2**20


def _status(name: str) -> float | None:
    """MiB of a line such as `VmHWM:  123 kB`; None outside Linux."""
    try:
        lines = STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), None)
