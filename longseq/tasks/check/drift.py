"""Streaming in float32 against float64 as the record grows, and how large the memory gets on the way."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from longseq.ops.memory import EMPTY
from longseq.results.check import DriftPoint, Figure
from longseq.tasks.check.case import LIMIT, Case
from longseq.tasks.check.reading import error, memories, memory_error
from longseq.tasks.check.subject import Subject

FIRST = 1024
"""Tokens after which readings are compared first; then after four times as many, and so on, and at the end."""
LARGEST_EXPONENT = 1023
"""A float64 holds the value of a memory up to this power of two."""


def drift(subject: Subject, length: int) -> Iterator[Case | DriftPoint]:
    """Outputs of the last chunk and memories, chunk by chunk."""

    def found(what: str, figure: float) -> Iterator[Case | DriftPoint]:
        limit = LIMIT["float32"]
        yield Case(f"{what} after {done:,} tokens", "float32", figure, limit)
        yield DriftPoint(model=subject.name, what=what, tokens=done, error=figure, limit=limit)

    ids = subject.ids(1, length)
    single, double = subject.encoder("float32"), subject.encoder("float64")
    state = exact = None
    with torch.inference_mode():
        done, mark = 0, FIRST
        for chunk in ids.split(_chunk(subject), 1):
            hidden, state = single(chunk, state)
            wanted, exact = double(chunk, exact)
            done += chunk.shape[1]
            if done < mark and done < length:
                continue
            mark = max(4 * mark, done + 1)
            yield from found("outputs", error(hidden, wanted))
            if memories(state):
                yield from found("memory", memory_error(state, exact))


def size(subject: Subject, length: int) -> Iterator[Case | Figure]:
    """Entries of a memory and its exponent stay bounded along the run."""
    encoder, state = subject.encoder(), None
    entry, exponent = 0.0, 0
    with torch.inference_mode():
        for chunk in subject.ids(1, length).split(_chunk(subject), 1):
            hidden, state = encoder(chunk, state)
            for memory in memories(state):
                here = float(memory.hi.abs().max())
                entry = max(entry, here if math.isfinite(here) else math.inf)
                used = memory.exponent[memory.exponent > EMPTY]
                exponent = max(exponent, int(used.abs().max()) if used.numel() else 0)
            if not torch.isfinite(hidden).all():
                entry = math.inf
    # Rescaled, the largest entry of a head lies below one.
    limit = 1.0 if subject.config.rescale else float(torch.finfo(torch.float32).max)
    yield Case("largest entry of a memory", "float32", entry, limit)
    yield Case("largest exponent of a memory", "float32", exponent, LARGEST_EXPONENT)


def _chunk(subject: Subject) -> int:
    return -(-FIRST // subject.grid) * subject.grid
