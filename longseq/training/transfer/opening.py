"""Opening the memory: a segment learns to say what its teacher says, which reads the earlier ones beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longseq.model import Encoder, Model
from longseq.model.mixers.linear import text
from longseq.training.transfer.config import OpeningConfig
from longseq.training.transfer.objectives import fresh, gates, untouched
from longseq.training.transfer.teaching import Teacher, error, pooled


class Opening(nn.Module):
    """How far hidden vectors of the text in a page's last segment, and their means, are from the teacher's, which reads
    the text of all segments in one window."""

    def __init__(self, model: Model, teacher: Teacher, settings: OpeningConfig):
        super().__init__()
        self.model, self.teacher, self._settings = model, teacher, settings

    def forward(
        self, ids: Tensor, weight: Tensor, mask: Tensor | None = None, state: object = None
    ) -> tuple[Tensor, Tensor, None]:
        """ids (B, T) of pages, weight (B, T) above 0 where asked, mask (B, T) → loss times tokens, tokens, no state."""
        settings, encoder = self._settings, self.model.encoder
        asked, wanted = weight > 0, in_one_window(self.teacher, encoder, ids, mask)
        hidden = encoder(ids, None, mask)[0]
        loss = settings.hidden * error(hidden, wanted, asked)
        if settings.pooled:
            alike = F.cosine_similarity(pooled(hidden, asked), pooled(wanted, asked))
            loss = loss + settings.pooled * (1 - alike).mean()
        if settings.trained != "gates":
            size = encoder.config.segment
            loss = loss + error(hidden[:, :size], self.teacher(ids[:, :size]).hidden, None)
        loss = loss + untouched(self.model)  # gains, where a window is a segment
        tokens = weight.sum()
        return loss * tokens, tokens, None


@torch.no_grad()
def in_one_window(teacher: Teacher, student: Encoder, ids: Tensor, mask: Tensor | None) -> Tensor:
    """What the teacher says of pages that it reads in one window each, at the places that their text has for a student.

    ids (B, T), mask (B, T): whole segments of the student and a last one, its special tokens around each. The teacher
    reads the text of the last segment first, so that this has the positions that it has by itself, and behind it that
    of the others, with special tokens around the whole: what it says differs by what stood before, not by the place.

    Returns:
        (B, T, D), arbitrary at special and masked tokens.
    """
    config = student.config
    valid = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
    kept = text(ids.shape, valid, config.segment, ids.device) & valid if config.frame else valid
    number = torch.arange(ids.shape[1], device=ids.device) // config.segment
    own = kept & (number == (valid.sum(1, keepdim=True) - 1) // config.segment)
    counts, around = kept.sum(1, keepdim=True), len(config.frame)
    place = own.cumsum(1).where(own, own.sum(1, keepdim=True) + (kept & ~own).cumsum(1)) - 1 + around // 2
    width = int(counts.max()) + around
    window = ids.new_zeros(len(ids), width + 1)
    window.scatter_(1, place.masked_fill(~kept, width), ids)
    if config.frame:
        window[:, 0] = config.frame[0]
        window.scatter_(1, counts + 1, config.frame[1])
    inside = torch.arange(width, device=ids.device) < counts + around
    hidden = teacher(window[:, :width], None if bool(inside.all()) else inside).hidden
    place = place.clamp(0, width - 1)  # of special and masked tokens
    return hidden.gather(1, place[..., None].expand(-1, -1, hidden.shape[-1]))


def freeze_for_opening(model: Model, settings: OpeningConfig) -> None:
    """Leave to train the gates, and what else the settings say."""
    model.requires_grad_(settings.trained == "all")
    more = fresh(model) if settings.trained == "maps" else []
    for parameter in (*gates(model), *more):
        parameter.requires_grad_()


@contextmanager
def closed(model: Model) -> Iterator[None]:
    """Inside `with`, no segment sees those before it."""
    found = [gate.detach().clone() for gate in gates(model)]
    with torch.no_grad():
        for gate in gates(model):
            gate.zero_()
        try:
            yield
        finally:
            for gate, before in zip(gates(model), found, strict=True):
                gate.copy_(before)
