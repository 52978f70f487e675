"""Padding, lane-mates and what comes later change nothing."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from longseq.model import State
from longseq.tasks.check.case import LIMIT, Case
from longseq.tasks.check.reading import error, lane, memory_error, read
from longseq.tasks.check.subject import DTYPES, Subject

PROBE = 33
"""Tokens read after, to compare states by what they do."""


def masks(length: int) -> dict[str, Tensor]:
    """Where the tokens of a lane (length,) are valid."""
    place = torch.arange(length)
    holes = torch.rand(length, generator=torch.Generator().manual_seed(0)) < 0.6
    return {
        "on the right": place < length * 2 // 5,
        "on the left": place >= length * 3 // 5,
        "in between": holes,
        "all": place < 0,
        "none": place >= 0,
    }


def padding(subject: Subject, length: int) -> Iterator[Case]:
    """Lanes with padding on every side against the same records alone."""
    grid = subject.grid
    span = 2 * grid if grid > 1 else max(20, min(length, 150))
    sides = masks(span)
    mask = torch.stack(list(sides.values())).to(subject.device)
    ids = subject.ids(len(sides), span, seed=1)
    probe = subject.ids(1, PROBE, seed=2)
    cuts = {"whole": [span], "in pieces": [span * 3 // 10, 1, span]} if grid == 1 else {"whole": [span]}
    for precision in DTYPES:
        encoder, limit = subject.encoder(precision), LIMIT[precision]
        with torch.inference_mode():
            alone: list[tuple[Tensor, State] | None] = []
            for row, valid in zip(ids, mask, strict=True):
                record = row[valid][None]
                alone.append(encoder(record) if record.shape[1] else None)
            for cut, sizes in cuts.items():
                hidden, state = read(encoder, ids, sizes, mask)
                # Behind a segment that is not whole nothing can follow.
                after = encoder(probe.expand(len(sides), -1), state)[0] if grid == 1 else None
                for i, (side, record_alone) in enumerate(zip(sides, alone, strict=True)):
                    what = f"{side}, {cut}"
                    yield Case(f"count, padding {what}", precision, float(abs(state.seen[i] - mask[i].sum())), 0.0)
                    if after is not None:
                        then, _ = encoder(probe, record_alone and record_alone[1])
                        yield Case(f"what follows, padding {what}", precision, error(after[i], then[0]), limit)
                    if record_alone is not None:
                        wanted, end = record_alone
                        mine = lane(state, i)
                        yield Case(f"outputs, padding {what}", precision, error(hidden[i, mask[i]], wanted[0]), limit)
                        yield Case(f"memory, padding {what}", precision, memory_error(mine, end), limit)
                if subject.grows:
                    continue
                # A chunk of nothing but padding: what stood before it stands after it.
                nothing = torch.zeros_like(mask[:, : max(grid, PROBE)])
                _, still = encoder(ids[:, : nothing.shape[1]], state, nothing)
                yield Case(f"memory, a chunk of padding, {cut}", precision, memory_error(still, state), limit)


def lanes(subject: Subject, length: int) -> Iterator[Case]:
    """Records side by side against each alone."""
    span = max(min(length, 200), subject.grid)
    ids = subject.ids(3, span, seed=3)
    for precision in DTYPES:
        encoder, limit = subject.encoder(precision), LIMIT[precision]
        with torch.inference_mode():
            hidden, state = encoder(ids)
            for i, row in enumerate(ids):
                wanted, end = encoder(row[None])
                mine = lane(state, i)
                yield Case(f"outputs, lane {i + 1} of 3", precision, error(hidden[i], wanted[0]), limit)
                yield Case(f"memory, lane {i + 1} of 3", precision, memory_error(mine, end), limit)


def causality(subject: Subject, length: int) -> Iterator[Case]:
    """One token changed: outputs before it (before its segment) stay."""
    grid = subject.grid
    ids = subject.ids(1, max(min(length, 300), 3 * grid))
    for precision in DTYPES:
        encoder = subject.encoder(precision)
        with torch.inference_mode():
            wanted, _ = encoder(ids)
            for at in (ids.shape[1] // 2, ids.shape[1] - 1):
                changed = ids.clone()
                changed[0, at] = (changed[0, at] + 1) % subject.config.vocabulary
                before = at // grid * grid
                found, _ = encoder(changed)
                figure = error(found[:, :before], wanted[:, :before])
                yield Case(f"outputs before a changed token {at}", precision, figure, LIMIT[precision])
