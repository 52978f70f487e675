"""The parts of a document that get a summary each: runs of sentences of one section, chapter, page or outline entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from longseq.errors import InputError, place
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.priors import Outline
from longseq.tasks.document.request import Division


class Part(NamedTuple):
    """Consecutive sentences `[first, last)`, numbers of their rows."""

    title: str
    first: int
    last: int


def parts(collection: Collection, outline: Outline, by: Division) -> list[Part]:
    """The parts, in order. Of sections and chapters each is a run of sentences; entries of an outline hold those below.

    Raises:
        InputError: a document without pages is asked for its pages.
    """
    document = collection.rows.column("document")
    if by == "page":
        return list(_pages(collection))
    section = collection.rows.column("section")
    if by == "outline":
        return list(_entries(outline, section, document))
    level = outline.level if by == "chapter" else None
    titles = [" > ".join(path[:level]) for path in outline.titles]
    numbers = {title: number for number, title in enumerate(dict.fromkeys(titles))}
    key = np.array([numbers[title] for title in titles], np.int64)[section] if len(section) else section
    return [Part(titles[section[first]], first, last) for first, last in _runs(key, document)]


def _runs(*keys: np.ndarray) -> Iterator[tuple[int, int]]:
    """Runs of rows in which no key changes."""
    n = len(keys[0])
    change = np.zeros(max(n - 1, 0), bool)
    for key in keys:
        change |= key[1:] != key[:-1]
    cuts = [0, *(np.flatnonzero(change) + 1).tolist(), n]
    return ((a, b) for a, b in pairwise(cuts) if b > a)


def _pages(collection: Collection) -> Iterator[Part]:
    layout, facts = collection.layouts[0], collection.documents[0]
    if layout is None or not layout.pages:
        raise InputError(
            where=place(facts.file, None, facts.id),
            expected="a document with pages",
            found=f"{facts.notes.get('format', 'a text')} without",
            remedy="ask for --by section",
        )
    start = collection.rows.column("start")
    firsts = np.searchsorted(start, [page.start for page in layout.pages]).tolist()
    for page, first, last in zip(layout.pages, firsts, [*firsts[1:], len(start)], strict=True):
        if last > first:
            yield Part(page.label, first, last)


def _entries(outline: Outline, section: np.ndarray, document: np.ndarray) -> Iterator[Part]:
    """Each title of the outline with all that stands below it, outer ones first."""
    open_parts: list[tuple[Sequence[str], int]] = []  # path and first row of what still goes on
    found: list[Part] = []
    before = -1
    for first, last in _runs(section, document):
        path = outline.titles[section[first]]
        if document[first] != before:
            found += [Part(" > ".join(p), start, first) for p, start in open_parts]
            open_parts, before = [], int(document[first])
        while open_parts and list(open_parts[-1][0]) != path[: len(open_parts[-1][0])]:
            p, start = open_parts.pop()
            found.append(Part(" > ".join(p), start, first))
        for depth in range(len(open_parts) + 1, len(path) + 1):
            open_parts.append((path[:depth], first))
        if not path:
            found.append(Part("", first, last))
    found += [Part(" > ".join(p), start, len(section)) for p, start in open_parts]
    return iter(sorted(found, key=lambda part: (part.first, -part.last)))
