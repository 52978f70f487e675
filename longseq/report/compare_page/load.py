"""Whether the machine had other work to do: times of learning then say little."""

from __future__ import annotations

from longseq.results.compare import Compare

BUSY = 1.0
"""Other processes, on average over the minute before."""


def busy(found: Compare) -> bool:
    load = found.machine.load_before
    return load is not None and load >= BUSY
