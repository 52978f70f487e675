"""What attention heads do, as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from longseq.log import count
from longseq.report.bench import aligned
from longseq.results.attention import AttentionLook, HeadLook

HEAD = ("head", "mixer", "overlap", "reach", "half-life")


def attention_text(look: AttentionLook) -> str:
    """Plain text, ended by a line feed: a line for each head, and what the columns are."""
    return "\n".join([*_lines(look)]) + "\n"


def _lines(look: AttentionLook) -> Iterator[str]:
    yield title(look)
    yield from aligned([(HEAD[0], *HEAD[1:]), *(cells(head) for head in look.heads)])
    yield from (f"{where}: no table of weights" for where in look.without)
    yield ""
    yield from (f"{name}: {words}" for name, words in meanings(look))


def title(look: AttentionLook) -> str:
    """Which model reads how much, and what stands beside it."""
    said = f"{look.model}, {count(len(look.tokens), 'token')}"
    return f"{said}, beside the {look.beside}" if look.softmax else said


def cells(head: HeadLook) -> tuple[str, ...]:
    """A row of a table under `HEAD`."""
    shared = "NA" if head.overlap is None else f"{head.overlap:.2f}"
    return head.name, head.mixer, shared, f"{head.reach:.1f}", life(head.half_life)


def life(tokens: Sequence[float]) -> str:
    """Half-lives of the channels of a head: the shortest to the longest."""
    if not tokens:
        return "none"
    low, high = short(min(tokens)), short(max(tokens))
    return low if low == high else f"{low} to {high}"


def short(tokens: float) -> str:
    """A number of tokens to two figures."""
    if math.isinf(tokens):
        return "for ever"
    return f"{float(f'{tokens:.2g}'):,.10g}"


def meanings(look: AttentionLook) -> list[tuple[str, str]]:
    """What the columns say."""
    softmax = f"the {look.beside}" if look.softmax else "a softmax beside it, of which there is none"
    return [
        ("head", "LAYER.HEAD, from 1"),
        ("overlap", f"share of the weight of {softmax} that the head puts where that does, mean over tokens"),
        ("reach", "tokens between where a value stands and where it is read, mean by weight"),
        ("half-life", f"tokens after which half of a memory is left, by its mean decay over {look.read:,} tokens"),
    ]
