"""Documents with labels: what is told of their sentences, and what an extractor should answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longseq.errors import InputError, place
from longseq.formats import read
from longseq.formats.folders import files
from longseq.formats.jsonfile import parsed
from longseq.formats.tabular import open_rows
from longseq.log import NullProgress, Progress
from longseq.records import Record
from longseq.tasks.document.choice import candidates
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.priors import Outline
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.extract.states import SentenceStates
from longseq.tasks.extract.traits import traits

REMEDY = "make them again, from these documents: longseq oracle DATA --out LABELS"


@dataclass(frozen=True)
class Example:
    """One document."""

    id: str
    traits: Tensor
    """(S, F) float32."""
    states: Tensor | None
    """(S, D) float32."""
    label: Tensor
    """(S,) float32, 1 where the oracle chose the sentence."""
    held: Tensor
    """(S,) float32, share of it that the reference holds."""


def read_examples(
    inputs: Sequence[str],
    labels: str,
    *,
    text: str | None = None,
    states: SentenceStates | None = None,
    progress: Progress | None = None,
) -> list[Example]:
    """The documents that have labels, in order, in memory: some hundred bytes a sentence, without states.

    Raises:
        InputError: a file that cannot be read, labels of other sentences, or of none of these documents.
    """
    known = _labels(labels)
    progress = progress or NullProgress()
    progress.start("read", len(known), "document")
    found = []
    for name in files(inputs):
        with read(name, kind="document", text=text) as reading:
            for record in reading:
                if (sentences := known.get(record.id)) is not None:
                    found.append(_example(record, sentences, states, labels))
                    progress.advance(1)
    progress.finish()
    if not found:
        raise InputError(where=labels, expected="labels of these documents", found="none", remedy=REMEDY)
    return found


def _labels(file: str) -> dict[str, list[dict]]:
    rows, found = open_rows(file), {}
    if not {"id", "sentences"} <= rows.columns.keys():
        rows.stream.close()
        raise rows.without("sentences", REMEDY)
    for row in rows.walk():
        if row.fault is not None:
            raise row.fault
        sentences = row.cells["sentences"]
        if isinstance(sentences, str):  # of a table without lists
            try:
                sentences = parsed(sentences)
            except ValueError as error:
                raise InputError(
                    where=place(file), expected="sentences as JSON", found=str(error), remedy=REMEDY
                ) from None
        found[rows.name(row)] = sentences
    rows.stream.close()
    return found


def _example(record: Record, sentences: list[dict], states: SentenceStates | None, labels: str) -> Example:
    with Collection(DocumentRequest()) as collection:
        collection.add(record)
        _, keep = candidates(collection, collection.tiers(), collection.rows.column("words"))
        start, length = (collection.rows.column(name, keep).astype(np.int64) for name in ("start", "length"))
        spans = list(zip(start.tolist(), (start + length).tolist(), strict=True))
        if spans != [(row["start"], row["end"]) for row in sentences]:
            raise InputError(
                where=place(labels, record=record.id),
                expected="a label for each of the sentences that a summary may quote",
                found=f"{len(sentences)} for {len(spans)}, or of others",
                remedy=REMEDY,
            )
        with collection.spool.vectors(keep) as vectors:
            told = traits(collection, keep, vectors, Outline(collection.sections))
        return Example(
            record.id,
            torch.from_numpy(told),
            None if states is None else torch.from_numpy(states.read(collection, keep)),
            *(torch.tensor([row[name] for row in sentences], dtype=torch.float32) for name in ("label", "held")),
        )


def held_out(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """(to learn from, to score): so many documents, at least one of either where there are two and a share."""
    order = np.random.default_rng([seed, 1]).permutation(len(examples)).tolist()
    kept = min(max(round(share * len(examples)), 1), len(examples) - 1) if share else 0
    return [examples[i] for i in sorted(order[kept:])], [examples[i] for i in sorted(order[:kept])]


def batches(count: int, size: int, epochs: int, seed: int) -> Iterator[list[int]]:
    """Numbers of documents, each once an epoch, in an order drawn anew."""
    for epoch in range(epochs):
        order = np.random.default_rng([seed, 2, epoch]).permutation(count).tolist()
        yield from (order[at : at + size] for at in range(0, count, size))
