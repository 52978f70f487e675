"""What speaks for a sentence before it is compared with the others: its section, its place, its wording, its terms.

The features of Edmundson (1969), "New methods in automatic extracting", JACM 16, added up on the scale of logarithms,
so that each multiplies a sentence's centrality. Nothing here knows a field or a publisher.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from longseq.tasks.document.cues import Cue
from longseq.tasks.document.rows import Rows
from longseq.tasks.document.sections import Role, role_of

EDGE = 5.0
"""Sentences over which nearness to a document's first or last one falls to a third."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Of the features of a sentence; each multiplies its worth by exp(weight × feature).

    The values are those that `pipelines/benchmarks/summaries.py` finds on all of its articles; it reports each half
    of them under the weights that the other half gives. What speaks against a sentence was held to speak against it.
    """

    central: float = 1.17
    """Of the logarithm of its centrality among the others."""
    concludes: float = 0.54
    finds: float = 0.45
    aims: float = 0.38
    stresses: float = 0.24
    points: float = -0.26
    cites: float = -0.55
    """The wording, see `longseq.tasks.document.cues.Cue`."""
    dangles: float = -1.0
    """Not found but set: such sentences are no worse by the words they share with an abstract, but cannot be read."""
    opening: float = 1.37
    methods: float = 0.0
    results: float = 0.22
    discussion: float = 0.67
    closing: float = 1.02
    """The role of its section; closing: summaries and conclusions."""
    paragraph_first: float = 0.55
    paragraph_last: float = 0.14
    chapter_first: float = 1.0
    """In the first paragraph of its chapter."""
    chapter_last: float = 0.89
    first: float = 0.19
    """Nearness to the document's first sentence, 1 there."""
    last: float = 0.1
    title: float = 2.24
    """Share of the words of the document's title that it repeats."""
    content: float = 2.7
    """Mean weight of its words: how often they occur here, and not everywhere; 1 for the weightiest."""


FEATURES = tuple(field.name for field in fields(Weights))
"""Names, in order."""


class Outline:
    """What the paths of a document's sections say."""

    def __init__(self, paths: Sequence[str]):
        self.paths = paths
        self.titles = [path.split(" > ") if path else [] for path in paths]
        self.roles = np.array([role_of(path) for path in paths], np.int8)
        """(sections,) the role of each."""
        self.level = self._level()
        """Titles that name a chapter: as far down as there is but one of them."""
        numbers: dict[str, int] = {}
        self.chapters = np.array(
            [numbers.setdefault(" > ".join(titles[: self.level]), len(numbers)) for titles in self.titles], np.int32
        )
        """(sections,) the number of each one's chapter."""

    def _level(self) -> int:
        deepest = max(map(len, self.titles), default=0)
        for level in range(1, deepest):
            if len({tuple(titles[:level]) for titles in self.titles if len(titles) >= level}) > 1:
                return level
        return max(deepest, 1)


def features(rows: Rows, keep: np.ndarray, outline: Outline, content: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Name and (n,) value of each feature but `central`, of the rows in `keep` ((rows,) bool), one at a time.

    Args:
        rows: Of all sentences.
        keep: Those that may be quoted.
        outline: Of their sections.
        content: (n,) mean weight of each one's words.
    """
    cues = rows.column("cues", keep)
    for cue in ("concludes", "finds", "aims", "stresses", "points", "cites", "dangles"):
        yield cue, (cues & int(Cue[cue.upper()])) > 0
    section = rows.column("section", keep)
    role = outline.roles[section] if len(section) else np.zeros(0, np.int8)  # few bytes a row: there may be millions
    for name in ("opening", "methods", "results", "discussion"):
        yield name, role == Role[name.upper()]
    yield "closing", (role == Role.SUMMARY) | (role == Role.CONCLUSION)
    paragraph, document = rows.column("paragraph", keep), rows.column("document", keep)
    begins = _changes(document)
    first = begins | _changes(paragraph)
    yield "paragraph_first", first
    yield "paragraph_last", _ends(first)
    chapter = begins | _changes(outline.chapters[section] if len(section) else section)
    yield "chapter_first", paragraph == _of_run(paragraph[chapter], chapter)
    yield "chapter_last", paragraph == _of_run(paragraph[_ends(chapter)], chapter)
    place = np.arange(len(begins), dtype=np.int32)
    yield "first", np.exp((_of_run(place[begins], begins) - place) / np.float32(EDGE))
    yield "last", np.exp((place - _of_run(place[_ends(begins)], begins)) / np.float32(EDGE))
    yield "title", rows.column("title", keep)
    yield "content", content


def prior(weights: Weights, rows: Rows, keep: np.ndarray, outline: Outline, content: np.ndarray) -> np.ndarray:
    """(n,) float32: the weighted sum of the `features`."""
    out = np.zeros(int(keep.sum()), np.float32)
    for name, values in features(rows, keep, outline, content):
        if weight := getattr(weights, name):
            out += np.float32(weight) * values
    return out


def _changes(values: np.ndarray) -> np.ndarray:
    """Whether a value differs from the one before it; the first does."""
    return np.concatenate((np.ones(min(len(values), 1), bool), values[1:] != values[:-1]))


def _of_run(values: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """(n,): for each row the value of its run, of which there is one where `begins` is true."""
    run = np.cumsum(begins, dtype=np.int32)
    run -= 1
    return values[run]


def _ends(begins: np.ndarray) -> np.ndarray:
    """Where runs end whose beginnings are given."""
    return np.concatenate((begins[1:], np.ones(min(len(begins), 1), bool)))
