"""Summaries that anybody can have, as long as the one beside which they stand: what it has to beat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

import numpy as np

from longseq.metrics.oracle import oracle
from longseq.records import Record
from longseq.tasks.document.choice import candidates
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.lexrank import degrees, lexrank
from longseq.tasks.document.request import DocumentRequest

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
    """(n,) float64: continuous LexRank of TF-IDF vectors, to rounding that of the matrix of all similarities."""


def prose(record: Record) -> Prose:
    """The different sentences of a document's prose; where it has hardly any, of its lists, or of all it has.

    Raises:
        InputError: a fault in the record.
    """
    with Collection(DocumentRequest()) as collection:
        collection.add(record)
        words = collection.rows.column("words")
        _, keep = candidates(collection, collection.tiers(), words)
        with collection.spool.vectors(keep) as vectors:
            centrality = lexrank(vectors, degrees(vectors))
        start, length = (collection.rows.column(name, keep).astype(np.int64) for name in ("start", "length"))
        spans = np.stack([start, start + length], 1)
        texts = tuple(collection.text.read(a, b).text for a, b in spans.tolist())
        return Prose(texts, spans, words[keep].astype(np.int64), centrality)


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
