"""Summaries that anybody can have, as long as the one beside which they stand: what it has to beat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

import numpy as np

from longseq.metrics.oracle import oracle
from longseq.records import Record
from longseq.tasks.document.candidates import Candidates, find_sentences
from longseq.tasks.document.lexrank import degrees, lexrank
from longseq.tasks.document.vectors import TermSpool
from longseq.tokens.words import count_words, terms

NAMES = ("lead", "random", "lexrank", "oracle")
"""The first sentences; any; those that resemble most others; those nearest to the reference, which it is given."""


class Prose(NamedTuple):
    """The sentences of a document that a summary may quote, held in memory."""

    texts: tuple[str, ...]
    spans: np.ndarray
    """(n, 2) int64 code points, start and end."""
    words: np.ndarray
    """(n,) int64 of each."""
    centrality: np.ndarray
    """(n,) float64: continuous LexRank of TF-IDF vectors of words and pairs, to rounding that of the matrix of all
    similarities."""


def prose(record: Record, language: str = "en") -> Prose:
    """The different sentences of a document's prose; where it has hardly any, of its lists, or of all it has.

    Raises:
        InputError: a fault in the record.
    """
    candidates, texts = Candidates(), []
    with TermSpool() as spool:
        for found in find_sentences(record.pieces, language, record.layout):  # type: ignore[arg-type]
            text = found.sentence.text
            candidates.add(found, count_words(text))
            spool.add(terms(text))
            texts.append(text)
        keep = np.zeros(len(texts), bool)
        for _, let_in in candidates.tiers():
            if (keep := spool.distinct(let_in)).any():
                break
        with spool.vectors(keep) as vectors:
            scores = lexrank(vectors, degrees(vectors))
    rows = np.flatnonzero(keep)
    spans = np.stack([np.array(candidates.start, np.int64), np.array(candidates.end, np.int64)], 1)
    return Prose(tuple(texts[row] for row in rows), spans[rows], np.array(candidates.words, np.int64)[rows], scores)


def baselines(
    source: Prose, reference: str, budget: int, *, id: str = "", seed: int = 0
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names of `NAMES` and sentences in document order, of `budget` words at most; the random ones are drawn by id and
    `seed`."""
    n = len(source.texts)
    orders = {
        "lead": np.arange(n),
        "random": np.random.default_rng([seed, crc32(id.encode("utf-8", "surrogatepass"))]).permutation(n),
        "lexrank": np.argsort(-source.centrality, kind="stable"),
    }
    for name, order in orders.items():
        yield name, _texts(source, filled(order, source.words, budget))
    yield "oracle", _texts(source, oracle(reference, source.texts, source.words, budget))


def filled(order: np.ndarray, words: np.ndarray, budget: int) -> list[int]:
    """Rows in this order, each that still fits."""
    taken, left = [], budget
    for row in order.tolist():
        if words[row] <= left:
            taken.append(row)
            left -= int(words[row])
    return taken


def _texts(source: Prose, rows: list[int]) -> tuple[str, ...]:
    return tuple(source.texts[row] for row in sorted(rows))
