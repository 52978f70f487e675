"""What `evaluate` says of summaries: figures beside those of baselines, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from longseq.results.run import Run

EVALUATION_SCHEMA = "longseq.evaluation/1"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A mean over the documents."""

    value: float
    low: float
    """Of a bootstrap interval of 95 %."""
    high: float


@dataclass(frozen=True, kw_only=True)
class SystemRow:
    """One way of summarizing, over all documents."""

    system: str
    """`summaries` are those that were given; the others are baselines, as long as those at most."""
    words: float
    """Of a summary, on average."""
    rouge: Mapping[str, Mapping[str, Figure]]
    """By kind (`rouge1`, `rouge2`, `rougeL`, `rougeLsum`) precision, recall and f."""
    coverage: float | None
    """Share of the documents' recurrent words that the summary names; None without documents."""
    redundancy: float
    """Share of the pairs of neighbouring words that a summary has said before."""
    dangling: float
    """Share of sentences that open by referring to something which does not stand before them."""


@dataclass(frozen=True, kw_only=True)
class Against:
    """F of the summaries less F of a baseline on the same documents."""

    system: str
    rouge: Mapping[str, Figure]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Summaries against references."""

    run: Run
    documents: int
    """Summaries with a reference, and with a document where documents were given."""
    tokens: Mapping[str, int]
    """What was counted as a word, and in how many documents."""
    systems: Sequence[SystemRow]
    against: Sequence[Against]
    unmatched: Mapping[str, Sequence[str]]
    """Ids of `summaries`, `references` and `documents` that lack one of the others, and were left out."""
    records: Sequence[Mapping[str, object]] = field(default_factory=tuple)
    """F of each system for each document."""

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return not any(self.unmatched.values())

    def to_json(self) -> dict:
        return {"schema": EVALUATION_SCHEMA, **asdict(self)}
