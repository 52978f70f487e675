"""Cutting time anywhere, tiles of any size, and rescaling change nothing."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from longseq.tasks.check.case import LIMIT, Case
from longseq.tasks.check.reading import error, largest_difference, numbers, read, state_error
from longseq.tasks.check.subject import DTYPES, Subject

WHOLE = 2048
"""Tokens that are read, at most."""
SHORT = 256
"""Of these, tokens that are read in the smallest pieces."""
SMALL = 4
"""Tokens a block where a call shall be of several spans, each of a few dozen blocks."""
CUTS = {"pieces of 1000": [1000], "pieces of 64": [64], "ragged pieces": [17, 1, 63, 65, 1, 128, 500]}
"""Cuts of the whole; the last size is repeated."""


def cut(subject: Subject, length: int) -> Iterator[Case]:
    """Parallel against recurrent: scores of every token, and the state that is left."""
    grid = subject.grid
    ids = subject.ids(1, min(length, max(WHOLE, 4 * grid)))
    short = ids[:, : max(SHORT, 2 * grid)]
    on_grid = {name: [-(-size // grid) * grid for size in sizes] for name, sizes in CUTS.items()}
    trials = [(ids, name, sizes) for name, sizes in on_grid.items()]
    trials.append((short, "pieces of 1" if grid == 1 else f"pieces of {grid}", [grid]))
    for precision in DTYPES:
        model = subject.variant(precision)
        with torch.inference_mode():
            whole = {id(x): model(x) for x in (ids, short)}
            for x, name, sizes in trials:
                found, state = read(model, x, sizes)
                wanted, end = whole[id(x)]
                yield Case(f"outputs, {name}", precision, error(found, wanted), LIMIT[precision])
                yield Case(f"state, {name}", precision, state_error(state, end), LIMIT[precision])


def block(subject: Subject, length: int) -> Iterator[Case]:
    """Tiles of other sizes."""
    grid = subject.grid
    ids = subject.ids(1, max(min(length, 700), 2 * grid))
    sizes = [-(-400 // grid) * grid]
    for precision in DTYPES:
        with torch.inference_mode():
            wanted, end = read(subject.variant(precision), ids, sizes)
            for size in (5, 16, 100):
                found, state = read(subject.variant(precision, block=size), ids, sizes)
                yield Case(f"outputs, block {size}", precision, error(found, wanted), LIMIT[precision])
                yield Case(f"state, block {size}", precision, state_error(state, end), LIMIT[precision])


def rescaling(subject: Subject, length: int) -> Iterator[Case]:
    """Never, after every span, at the end of each call only: not one bit."""
    grid = subject.grid
    ids = subject.ids(1, max(min(length, 700), 2 * grid))
    sizes = [-(-size // grid) * grid for size in (300, 1, 399)]
    with torch.inference_mode():
        wanted, end = read(subject.variant(block=SMALL, rescale=0), ids, sizes)
        for period, often in ((1, "after every span"), (64, "once a call")):
            found, state = read(subject.variant(block=SMALL, rescale=period), ids, sizes)
            apart = [largest_difference(a, b) for a, b in zip(numbers(state), numbers(end), strict=True)]
            what = f"{often} against never"
            yield Case(f"outputs, {what}", "float32", largest_difference(found, wanted), 0.0)
            yield Case(f"state, {what}", "float32", max(apart), 0.0)
