"""Sources and targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longseq.config import require


@dataclass(frozen=True, kw_only=True)
class PairConfig:
    """Pairs of texts to learn from (task seq2seq): a source is read, then its target is told."""

    source: str = "source"
    """Column, or field of JSON lines, that holds the source."""
    target: str = "target"
    """Column or field that holds the target."""
    group: str | None = None
    """Column or field whose groups are never divided by the held-out split; None: pairs of one source are a group."""
    unit: Literal["characters", "words"] = "characters"
    """What an id stands for without data.tokenizer: each character of the pairs, or what stands between white space."""
    longer: Literal["error", "skip"] = "error"
    """Pairs of more tokens than data.window, source, separator, target and end together: an error, or left out and
    counted. None is ever cut."""
    held_out: float = 0.1
    """Share of the pairs kept for evaluation, in whole groups drawn at random."""
    held_out_groups: tuple[str, ...] = ()
    """Groups kept for evaluation instead, such as the word `test` in a column `split`."""

    def __post_init__(self):
        require(bool(self.source), "pairs.source", self.source, "a name")
        require(bool(self.target), "pairs.target", self.target, "a name")
        require(self.source != self.target, "pairs.target", self.target, "another name than pairs.source")
        require(0 <= self.held_out < 1, "pairs.held_out", self.held_out, "a share, 0 to below 1")
