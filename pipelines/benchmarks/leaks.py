"""What a process holds: memory, objects, open files, threads, child processes, files mapped into its memory."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from longseq.tasks.bench.memory import in_use_mb

PROC = Path("/proc/self")


class Held(NamedTuple):
    """At one moment, garbage aside; None where the system does not say."""

    rss_mb: float | None
    """Resident memory, MiB, once free memory was given back."""
    in_use_mb: float | None
    """MiB that the C library has handed out."""
    objects: int
    """Of Python's, that may refer to others."""
    handles: int
    threads: int
    children: int
    mapped: int
    """Files mapped into memory."""

    def since(self, before: Held) -> dict[str, float | None]:
        """What was added."""
        pairs = zip(self._fields, self, before, strict=True)
        return {name: None if now is None or then is None else now - then for name, now, then in pairs}


def held() -> Held:
    """What this process holds now."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    children = [file.read_text().split() for file in (PROC / "task").glob("*/children")]
    return Held(
        rss_mb=status_mb("VmRSS"),
        in_use_mb=in_use_mb(),
        objects=len(gc.get_objects()) + gc.get_freeze_count(),
        handles=len(os.listdir(PROC / "fd")),
        threads=threading.active_count(),
        children=sum(map(len, children)),
        mapped=len({line.split(None, 5)[5] for line in _maps() if " /" in line}),
    )


def status_mb(name: str) -> float | None:
    """MiB of a line of the system's, such as VmRSS (now) or VmHWM (at most)."""
    lines = (PROC / "status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), None)


def forget_peak() -> None:
    """VmHWM begins anew, where the system allows it."""
    with suppress(OSError):
        (PROC / "clear_refs").write_text("5")


def _maps() -> list[str]:
    return (PROC / "maps").read_text(errors="replace").splitlines()
