"""A benchmark as curves against length, and where one overtakes another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from longseq.results.bench import Bench

BOUND = "none"
"""The same model without attention."""
QUADRATIC = ("softmax", "softmax-bare", "softmax-both")
"""Attention that sees the whole length at once; what is overtaken is the first of these that was measured."""
RECURRENT = ("gru", "gru-stack", "lstm", "rnn", "window")
"""Of constant state, but no linear attention."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One mixer; entries by ascending length."""

    mixer: str
    lengths: list[int]
    speeds: list[float]
    """Tokens a second, of the median pass."""
    peaks: list[float]
    """MiB over the loaded model; NaN where it is not known."""


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Where linear attention overtakes attention of quadratic cost."""

    mixer: str
    other: str
    length: float | None
    """Tokens, between two measured lengths on straight lines through the logarithms; None: not on what was measured."""
    ahead: bool
    """Whether `mixer` is ahead, or level, at the longest length both were measured at."""
    everywhere: bool
    """Whether it is so at every length."""

    @property
    def said(self) -> str:
        if self.length is not None:
            return f"{self.mixer} is faster than {self.other} from about {rounded(self.length):,} tokens on"
        where = "every length measured" if self.everywhere else "the longest length measured, though not at every one"
        return f"{self.mixer} is {'faster' if self.ahead else 'slower'} than {self.other} at {where}"


def rounded(length: float) -> int:
    """Two figures: more were not measured."""
    return int(float(f"{length:.2g}"))


def curves(found: Bench, train: bool) -> list[Curve]:
    """Of inference or of training steps, in the order of the rows."""
    made: dict[str, Curve] = {}
    for row in sorted((row for row in found.rows if row.train == train), key=lambda row: row.length):
        curve = made.setdefault(row.mixer, Curve(mixer=row.mixer, lengths=[], speeds=[], peaks=[]))
        curve.lengths.append(row.length)
        curve.speeds.append(row.tokens_per_s)
        curve.peaks.append(math.nan if row.peak_mb is None else row.peak_mb)
    order = {row.mixer: number for number, row in reversed(list(enumerate(found.rows)))}
    return sorted(made.values(), key=lambda curve: order[curve.mixer])


def crossings(found: list[Curve]) -> list[Crossing]:
    """Of each linear attention with the quadratic one that was measured beside it, if any was."""
    by_name = {curve.mixer: curve for curve in found}
    other = next((by_name[name] for name in QUADRATIC if name in by_name), None)
    linear = [curve for curve in found if curve.mixer not in (BOUND, *QUADRATIC, *RECURRENT)]
    return [] if other is None else [one for curve in linear if (one := _crossing(curve, other)) is not None]


def _crossing(curve: Curve, other: Curve) -> Crossing | None:
    theirs = dict(zip(other.lengths, other.speeds, strict=True))
    shared = [
        (length, math.log(speed / theirs[length]))
        for length, speed in zip(curve.lengths, curve.speeds, strict=True)
        if length in theirs
    ]
    if not shared:
        return None
    at = None
    for (short, behind), (long, ahead) in pairwise(shared):
        if behind < 0 <= ahead:  # the last one counts: from there on it stays ahead
            at = short * (long / short) ** (behind / (behind - ahead))
    stays = shared[-1][1] >= 0
    everywhere = all((ahead >= 0) == stays for _, ahead in shared)
    return Crossing(
        mixer=curve.mixer, other=other.mixer, length=at if stays else None, ahead=stays, everywhere=everywhere
    )
