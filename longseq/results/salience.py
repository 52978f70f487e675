"""What lies where along a document: what its sentences are worth, its sections, and what answers a question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Salience:
    """What the sentences that could be chosen are worth, along the text, in stretches of one or many of them.

    Worth is what decides, before repetitions are left out: centrality, wording, place, title and length, or the answer
    to a question. 1.0 is the worthiest sentence, of a summary by parts the worthiest of its part. Offsets are code
    points; those of documents that are summarized together go on from one to the next.
    """

    start: tuple[int, ...]
    """Where the first sentence of each stretch begins."""
    end: tuple[int, ...]
    """Where its last one ends."""
    sentences: tuple[int, ...]
    """How many there are in it."""
    worth: tuple[float, ...]
    """The highest worth in it."""
    chosen: tuple[float, ...]
    """Worth of each sentence of the summary, in their order."""


@dataclass(frozen=True, kw_only=True)
class SectionShare:
    """A section with all that stands below it, and what of it came into the summary."""

    title: str
    """Titles, outermost first, joined by ` > `; empty of what stands below none."""
    document: int
    """Number of its document, 0-based, where many are summarized together."""
    start: int
    """First code point of its first sentence, as in `Salience`."""
    end: int
    """One past the last one of its last sentence."""
    words: int
    sentences: int
    """Of prose, lists and quotations."""
    chosen: tuple[int, ...]
    """Places in `sentences` of the summary."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A sentence that answers a question, chosen or not."""

    text: str
    start: int
    """First code point of its document."""
    end: int
    page: int | None
    """As in `SentenceRow`."""
    page_label: str | None
    section: str
    file: str | None
    id: str | None
    index: int | None
    relevance: float
    """1.0 is the best answer to a question."""
    words: tuple[tuple[int, int], ...]
    """Where in `text` words of the questions stand."""
    chosen: int | None
    """Its place in `sentences` of the summary; None where it is not in it."""
