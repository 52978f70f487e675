"""Bits of a sequence read forward and as its reverse complement: reported, no causal model promises them equal."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from longseq.model import LanguageModel
from longseq.results.check import Figure
from longseq.tasks.check.subject import Subject

LANES, TOKENS, BASES = 64, 100, 4


def needs_dna(subject: Subject) -> str | None:
    return None if subject.complement is not None and isinstance(subject.model, LanguageModel) else "no model of DNA"


def gap(subject: Subject, length: int) -> Iterator[Figure]:
    """Of sequences drawn from the model itself: what it takes for DNA, seen from the other strand."""
    assert subject.complement is not None and isinstance(subject.model, LanguageModel)
    ids = _drawn(subject.model, subject.device)
    other = subject.complement(ids.cpu().numpy()[:, ::-1])
    forward = _bits(subject.model, ids)
    reverse = _bits(subject.model, torch.from_numpy(np.ascontiguousarray(other, dtype=np.int64)).to(ids.device))
    for name, value in (("forward bits", forward), ("reverse bits", reverse), ("strand gap", reverse - forward)):
        yield Figure(name=name, model=subject.name, value=value, unit="bits per base")


def _drawn(model: LanguageModel, device: torch.device) -> Tensor:
    """(LANES, TOKENS) bases, each from the model's own scores."""
    generator = torch.Generator().manual_seed(5)
    state = None
    ids = torch.zeros(LANES, TOKENS, dtype=torch.long)
    hidden = model.head.start.detach().expand(LANES, -1)
    with torch.inference_mode():
        for t in range(TOKENS):
            scores = model.head.score(hidden)[:, :BASES].float().cpu()
            ids[:, t] = torch.multinomial(scores.softmax(-1), 1, generator=generator)[:, 0]
            _, state = model.encoder(ids[:, t : t + 1].to(device), state)
            hidden = state.last
    return ids.to(device)


def _bits(model: LanguageModel, ids: Tensor) -> float:
    with torch.inference_mode():
        scores, _ = model(ids)
        return float(F.cross_entropy(scores[..., :BASES].float().flatten(0, 1), ids.flatten())) / math.log(2)
