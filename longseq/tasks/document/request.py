"""What is wanted of documents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from longseq.config import require
from longseq.errors import UsageError
from longseq.tasks.document.lexrank import DAMPING
from longseq.tasks.document.priors import Weights
from longseq.tasks.document.select import Budget

if TYPE_CHECKING:
    from longseq.tasks.document.collection import Collection
    from longseq.tasks.document.priors import Outline
    from longseq.tasks.document.vectors import Vectors

Division = Literal["section", "chapter", "page", "outline"]
DIVISIONS = ("section", "chapter", "page", "outline")


class Extractor(Protocol):
    """Judges sentences in the place of the weighed features."""

    described: str
    """For the summary's reader: its name and version."""

    def judge(self, collection: Collection, keep: np.ndarray, vectors: Vectors, outline: Outline) -> np.ndarray:
        """(n,) float32 on the scale of logarithms: what the rows in `keep` are worth, whose `vectors` these are."""
        ...


@dataclass(frozen=True, kw_only=True)
class DocumentRequest:
    """What a summary of documents shall hold, and how its sentences are judged."""

    budget: Budget = field(default_factory=Budget)
    """What it may hold; each part of it where it is made by parts."""
    by: Division | None = None
    """A summary of each section, chapter, page or entry of the outline; None is one of the whole."""
    queries: tuple[str, ...] = ()
    """Questions: sentences that answer any of them are preferred."""
    must_include: tuple[str, ...] = ()
    """Regular expressions, their case ignored: sentences in which one is found come first, as far as they fit."""
    exclude: tuple[str, ...] = ()
    """Regular expressions, their case ignored: sentences in which one is found are not quoted."""
    together: bool = False
    """All documents of all inputs into one summary."""
    one_pass: bool = False
    """Nothing is kept but the best sentences so far: for pipes that never end."""
    language: str = "en"
    """ISO 639-1 code of the documents: after which abbreviations a stop ends no sentence."""
    damping: float = DAMPING
    """Probability of following a similarity rather than starting anew, in [0, 1)."""
    weights: Weights = field(default_factory=Weights)
    """What speaks for a sentence, and how much."""
    extractor: Extractor | None = None
    """What was trained to say so instead, weights aside."""

    def __post_init__(self):
        require(0 <= self.damping < 1, "document.damping", self.damping, "0 <= damping < 1")
        require(self.by is None or self.by in DIVISIONS, "document.by", self.by, ", ".join(DIVISIONS))
        if self.one_pass:
            require(self.by is None and not self.together, "document.one_pass", True, "neither by parts nor together")
            require(self.extractor is None, "document.one_pass", True, "no extractor, which needs the whole text")
            require(not self.queries, "document.one_pass", True, "no question, which needs the whole text")
            require(self.budget.unit != "ratio", "document.one_pass", True, "a budget that is no ratio")
        require(not (self.together and self.by == "page"), "document.by", self.by, "no pages of documents together")
        require(all(map(str.strip, self.queries)), "document.queries", self.queries, "questions with a word in them")
        for patterns, name in ((self.must_include, "--must-include"), (self.exclude, "--exclude")):
            for pattern in patterns:
                compiled(pattern, name)


def compiled(pattern: str, option: str = "pattern") -> re.Pattern[str]:
    """A pattern that ignores case; UsageError where it is none."""
    try:
        return re.compile(pattern, re.I)
    except re.error as error:
        raise UsageError(
            where=f"{option} {pattern!r}",
            expected="a regular expression",
            found=str(error),
            remedy=f"to find it as it stands, write {re.escape(pattern)!r}",
        ) from None
