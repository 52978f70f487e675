"""What `verify` says of a summary: does each sentence still stand where the summary says, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

VERIFY_SCHEMA = "longseq.verify/1"

State = Literal["stands", "moved", "respaced", "altered", "gone"]
"""Of a sentence in the source as it is read now: at its place; letter by letter at another place; there but for white
space; there with other letters; not there."""

Verdict = Literal[
    "verbatim",
    "source changed",
    "extractor changed",
    "source or extractor changed",
    "summary altered",
    "missing source",
    "unreadable source",
    "not verbatim",
]

Outcome = Literal["stands", "fails", "unchecked"]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A stretch of a document."""

    start: int
    """First code point of the document's text, 0-based."""
    end: int
    """One past the last code point."""
    byte_start: int | None = None
    """First byte of the file; None where the text is not the file's bytes, or was not asked for."""
    byte_end: int | None = None
    """One past the last byte."""
    line: int | None = None
    """Line of the file, 1-based; None where the format has no lines, or was not asked for."""
    page: int | None = None
    """Physical page, 1-based."""
    page_label: str | None = None
    """That page as the document numbers it."""


@dataclass(frozen=True, kw_only=True)
class SentenceCheck:
    """One sentence of the summary, looked for in the source."""

    rank: int
    state: State | None
    """None where there was no source to look in."""
    said: Place
    """Where the summary says it stands."""
    now: Place | None = None
    """Where it stands in the source as it is read now; of one that is gone, what is at its place, if the text reaches
    so far; None of one that stands."""
    text: str
    """As the summary has it."""
    found: str | None = None
    """What stands at `now`, where that is something else."""
    kept: bool | None = None
    """Whether it stands at its place in the text that was kept; None where none was."""


@dataclass(frozen=True, kw_only=True)
class DocumentCheck:
    """One document of the summary."""

    file: str
    """As the summary names it."""
    source: str | None
    """What was read for it."""
    id: str
    verdict: Verdict
    outcome: Outcome
    """Whether all sentences stand, some do not, or that could not be found out."""
    remarks: tuple[str, ...] = ()
    """What led to the verdict, in words."""
    sentences: tuple[SentenceCheck, ...] = ()

    @property
    def standing(self) -> int:
        """Sentences at their places in the source as it is read now."""
        return sum(row.state == "stands" for row in self.sentences)

    def to_json(self) -> dict:
        return {**asdict(self), "standing": self.standing}


def outcome(checks: Sequence[DocumentCheck]) -> Outcome:
    """Of a whole summary: one sentence that does not stand outweighs what could not be checked."""
    found = {check.outcome for check in checks}
    return "fails" if "fails" in found else "unchecked" if "unchecked" in found else "stands"
