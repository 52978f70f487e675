"""Which sentences of a collection are quoted: candidates, their worth, and the choice within each part's budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from longseq.tasks.document.candidates import ASIDES, REST, strictest
from longseq.tasks.document.collection import GONE, Collection
from longseq.tasks.document.hits import best_hits
from longseq.tasks.document.parts import Part, parts
from longseq.tasks.document.priors import Outline
from longseq.tasks.document.query import telling, unanswered
from longseq.tasks.document.ranking import Judged, judge, rank
from longseq.tasks.document.rows import UNWANTED, WANTED
from longseq.tasks.document.salience import Stretches
from longseq.tasks.document.select import select
from longseq.tasks.document.vectors import Vectors


@dataclass
class Choice:
    """What was chosen, and from what."""

    outline: Outline
    """Of the sections."""
    stretches: Stretches
    """What the candidates are worth, along the text."""
    tier: int
    """Lowest tier of sentences that was let in."""
    candidates: int
    """Different sentences there were to choose from."""
    shortest: int
    """Words of the shortest of them."""
    chosen: dict[int, tuple[int, float]] = field(default_factory=dict)
    """Row of each sentence chosen: its rank and its centrality in the part that chose it first."""
    parts: list[tuple[Part, list[int]]] = field(default_factory=list)
    """Parts with the rows that each one chose, in order; one part where it is the whole."""
    left_out: int = 0
    """Sentences that must be in and do not fit."""
    unanswered: tuple[str, ...] = ()
    """Questions of which no word stands in any sentence."""
    worth: dict[int, float] = field(default_factory=dict)
    """Row of each sentence chosen: what it was worth in that part, 1.0 being the most."""
    hits: list[tuple[int, float]] = field(default_factory=list)
    """Row and relevance of the best answers to the questions, best first."""
    telling: frozenset[str] = frozenset()
    """The terms of the questions that say something."""


def choose(collection: Collection, tiers: np.ndarray, words: np.ndarray) -> Choice:
    """Choose from a collection that is complete.

    Args:
        collection: Documents that were read.
        tiers: (rows,) of its sentences.
        words: (rows,) of its sentences.
    """
    request, rows = collection.request, collection.rows
    tier, keep = candidates(collection, tiers, words)
    silent: tuple[str, ...] = ()
    if request.queries:  # what a summary would not quote, a short sentence or an item, may be the answer
        wider = collection.spool.distinct(keep | (tiers <= ASIDES) & (rows.column("asked") & UNWANTED == 0))
        silent, still = (unanswered(collection.spool, some, request.queries, wider) for some in (keep, wider))
        if len(still) < len(silent):
            keep, silent = wider, still
    kept = np.flatnonzero(keep).astype(np.int32)
    outline = Outline(collection.sections)
    stretches = Stretches(rows, keep, len(collection.text))
    choice = Choice(outline, stretches, tier, len(kept), int(words[kept].min(initial=1 << 30)))
    with collection.spool.vectors(keep) as vectors:
        judged = judge(vectors, rows, keep, outline, request)
        choice.unanswered = silent
        choice.hits = [(int(kept[row]), value) for row, value in best_hits(judged.relevance)]
        choice.telling = telling(vectors, request.queries)
        if request.extractor is not None:
            judged = replace(judged, prior=request.extractor.judge(collection, keep, vectors, outline), whole=True)
        if request.by is None:
            _choose(collection, choice, Part("", 0, len(rows)), 0, kept, vectors, judged, words)
            return choice
        for part in parts(collection, outline, request.by):
            first, last = np.searchsorted(kept, [part.first, part.last]).tolist()
            if last > first:
                with vectors.part(first, last) as some:
                    own = judged.part(first, last)
                    _choose(collection, choice, part, first, kept[first:last], some, own, words)
    return choice


def candidates(collection: Collection, tiers: np.ndarray, words: np.ndarray) -> tuple[int, np.ndarray]:
    """The first tier that holds anything, and its (rows,) bool different sentences, with those that must be in."""
    asked = collection.rows.column("asked")
    free = asked & UNWANTED == 0
    wanted = (asked & WANTED > 0) & (tiers < GONE) & free
    if (wanted & (tiers < REST)).any():
        wanted &= tiers < REST  # headings only where nothing else says it
    for tier, let_in in strictest(tiers, words):
        keep = collection.spool.distinct((let_in & free) | wanted)
        if (keep & let_in).any():
            return tier, keep
    return REST, collection.spool.distinct(wanted)


def _choose(
    collection: Collection,
    choice: Choice,
    part: Part,
    first: int,
    kept: np.ndarray,
    vectors: Vectors,
    judged: Judged,
    words: np.ndarray,
) -> None:
    """Choose from the rows `kept` of a part, whose vectors these are, and of which `first` others come before."""
    request, rows = collection.request, collection.rows
    lengths = words[kept]
    score, worth = rank(vectors, judged, lengths, request)
    keep = np.zeros(len(rows), bool)
    keep[kept] = True
    wanted = np.flatnonzero(rows.column("asked", keep) & WANTED > 0)
    wanted = wanted[np.argsort(-worth[wanted], kind="stable")]
    costs = request.budget.costs(lengths, rows.column("length", keep))
    limit = request.budget.limit(int(words[part.first : part.last].sum()))
    found = select(vectors, worth, costs, limit, wanted.tolist())
    choice.left_out += len(wanted) - len(np.intersect1d(wanted, np.array(found, np.int64)))
    best = choice.stretches.add(first, worth) or 1.0
    for place, row in enumerate(found, start=1):
        choice.chosen.setdefault(int(kept[row]), (place, float(score[row])))
        choice.worth.setdefault(int(kept[row]), float(worth[row]) / best)
    choice.parts.append((part, sorted(int(kept[row]) for row in found)))
