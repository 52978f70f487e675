"""What attention heads do with a short text: what each reads of which token, and how long it remembers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from longseq.results.run import Run

ATTENTION_SCHEMA = "longseq.attention/1"


@dataclass(frozen=True, kw_only=True)
class HeadLook:
    """One attention head."""

    layer: int
    """From 1."""
    head: int
    """From 1."""
    mixer: str
    overlap: float | None
    """Share of the weight that softmax puts where this head does, mean over tokens: the sum of the smaller of both
    weights. None where there is no softmax beside it, or weights may be negative."""
    reach: float
    """Tokens: mean distance of what is read, by the size of the weights."""
    half_life: Sequence[float]
    """Tokens after which half of what is remembered is left, for each channel of the keys or one for all, by the mean
    decay over what was read; infinite where nothing is forgotten, empty of a head without a memory."""

    @property
    def name(self) -> str:
        """LAYER.HEAD"""
        return f"{self.layer}.{self.head}"


@dataclass(frozen=True, kw_only=True)
class AttentionLook:
    """All heads of a model over one text."""

    model: str
    sha256: str
    beside: str
    """What the softmax is: of the same queries and keys, or a model's name."""
    tokens: Sequence[str]
    """(T,) letters or pieces."""
    read: int
    """Tokens over which decays were measured."""
    heads: Sequence[HeadLook]
    """By layer, then by head; layers without a table of weights have none."""
    weights: dict[str, np.ndarray]
    """(T, T) float32 by a head's name: row t says how token t weighs the values of all others."""
    softmax: dict[str, np.ndarray]
    """The same of the softmax beside it, where there is one."""
    without: Sequence[str]
    """Layers that have no such table, as `layer 2 (gru)`."""

    def stacked(self) -> np.ndarray:
        """(L, H, T, T) float32, all weights by layer and head; NaN of layers that have none."""
        size = len(self.tokens)
        layers, heads = max(head.layer for head in self.heads), max(head.head for head in self.heads)
        found = np.full((layers, heads, size, size), np.nan, np.float32)
        for head in self.heads:
            found[head.layer - 1, head.head - 1] = self.weights[head.name]
        return found

    def to_json(self, run: Run) -> dict:
        """All but the tables."""
        plain = {name: getattr(self, name) for name in ("model", "sha256", "beside", "read")}
        lists = {"tokens": list(self.tokens), "without": list(self.without)}
        heads = [asdict(head) | {"half_life": list(head.half_life)} for head in self.heads]
        return {"schema": ATTENTION_SCHEMA, "run": run.to_json(), **plain, **lists, "heads": heads}


def shown(look: AttentionLook, asked: Sequence[str], most: int = 3) -> list[HeadLook]:
    """The heads asked for by name; of none, those that are most, middling and least like the softmax beside them, or
    where there is none the first head of the first, a middle and the last layer."""
    by_name = {head.name: head for head in look.heads}
    if asked:
        return [by_name[name] for name in dict.fromkeys(asked)]
    known = sorted((head for head in look.heads if head.overlap is not None), key=_likeness)
    some = known or [head for head in look.heads if head.head == 1]
    places = np.linspace(0, len(some) - 1, min(most, len(some))).round().astype(int)
    return [some[place] for place in places]


def _likeness(head: HeadLook) -> tuple[float, int, int]:
    assert head.overlap is not None
    return -head.overlap, head.layer, head.head
