"""Training on windows joined by a state has the gradients of the one long window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from longseq.tasks.check.case import LIMIT, Case
from longseq.tasks.check.reading import error, read
from longseq.tasks.check.subject import DTYPES, Subject


def gradient(subject: Subject, length: int) -> Iterator[Case]:
    """Of a weighted sum of all outputs, with respect to every weight of the model."""
    grid = subject.grid
    ids = subject.ids(1, max(min(length, 140), 3 * grid))
    size = ids.shape[1]
    for precision in DTYPES:
        model = subject.variant(precision)
        wanted = _gradients(model, ids, [size])
        cuts = {"two windows": [max(size * 2 // 5 // grid, 1) * grid, size], "three": [grid, max(63 // grid, 1) * grid]}
        for name, sizes in cuts.items():
            figure = error(_gradients(model, ids, sizes), wanted)
            yield Case(f"through the state, {name}", precision, figure, LIMIT[precision])


def _gradients(model: nn.Module, ids: Tensor, sizes: Sequence[int]) -> Tensor:
    parameters = [p for p in model.parameters() if p.requires_grad]
    with torch.enable_grad():
        outputs = read(model, ids, sizes)[0]
        weights = torch.randn(outputs.shape, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
        loss = (outputs * weights.to(outputs)).sum()
        found = torch.autograd.grad(loss, parameters, allow_unused=True)
    return torch.cat([g.flatten() for g in found if g is not None])
