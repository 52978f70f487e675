"""Readers of sequences and of intervals on them."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from fuzzing import Target

from longseq.formats import read


def walked(path: Path) -> None:
    """Every piece of every record."""
    with read(path) as reading:
        for record in reading:
            deque(record.pieces, maxlen=0)


SEQUENCES = (Target(name="fasta", file="a.fa", read=walked, words=(b">", b"\n", b"\r", b"N", b"\x1f\x8b", b"\0")),)
