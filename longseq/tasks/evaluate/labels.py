"""Labels for an extractor: of each document the sentences that say what its reference says.

A line of JSON a document: `id`; `budget`, words that the choice might have; `rouge1` and `rouge2`, F of the choice;
`sentences`, each with `start` and `end` in code points of the text, `words`, `label`, 1 where it was chosen, or 0, and
`held`, the share of its words and pairs of words that the reference holds. They are the sentences that a summary may
quote, in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longseq.config import require
from longseq.errors import InputError, place
from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.folders import files
from longseq.formats.jsonfile import to_json
from longseq.formats.table import is_table
from longseq.log import NullProgress, Progress
from longseq.metrics.oracle import held, oracle
from longseq.metrics.rouge import rouge
from longseq.tasks.evaluate.baselines import prose
from longseq.tasks.evaluate.texts import BESIDE, REFERENCES, Texts, key, read_texts
from longseq.tokens.words import count_words


@dataclass(frozen=True, kw_only=True)
class LabelRequest:
    """What is labelled."""

    documents: tuple[str, ...]
    references: str | None = None
    """A table, or documents; None where the documents' own table holds them."""
    column: str | None = None
    """Of the documents' table."""
    reference_column: str | None = None
    words: int | None = None
    """That a choice may have; None: as many as its reference."""

    def __post_init__(self):
        require(self.words is None or self.words >= 1, "words", self.words, "at least 1")


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """What came of it."""

    documents: int
    sentences: int
    chosen: int
    rouge1: float
    """F, mean over the documents."""
    rouge2: float
    unmatched: tuple[str, ...]
    """Documents without a reference."""


def write_labels(
    request: LabelRequest, out: str | Path, *, force: bool = False, progress: Progress | None = None
) -> Labelled:
    """Write the labels of all documents that have a reference, a line each, in their order.

    Raises:
        InputError: a file that cannot be read, or no document with a reference.
        OutputExistsError, UsageError: `out` cannot be written.
    """
    rows: list[tuple[int, int, float, float]] = []
    unmatched: list[str] = []
    progress = progress or NullProgress()
    progress.start("label", None, "document")
    with write_aside(out, force=force) as aside, open(aside, "w", encoding="utf-8") as file:
        for row in _labelled(request, unmatched):
            file.write(to_json(row, indent=None) + "\n")
            labels = [sentence["label"] for sentence in row["sentences"]]
            rows.append((len(labels), sum(labels), row["rouge1"], row["rouge2"]))
            progress.advance(1)
        if not rows:
            where = ", ".join((*request.documents, *filter(None, [request.references])))
            raise InputError(where=where, expected="documents with a reference of the same id", found="none")
    progress.finish()
    sentences, chosen, first, second = (sum(column) for column in zip(*rows, strict=True))
    return Labelled(
        documents=len(rows),
        sentences=int(sentences),
        chosen=int(chosen),
        rouge1=first / len(rows),
        rouge2=second / len(rows),
        unmatched=tuple(unmatched),
    )


def _labelled(request: LabelRequest, unmatched: list[str]) -> Iterator[dict[str, Any]]:
    references: Texts = {}
    if request.references is not None:
        references = read_texts(request.references, request.reference_column, REFERENCES, "--reference-column")
    else:
        for table in files(request.documents):
            if not is_table(table):
                raise InputError(
                    where=place(table),
                    expected="a table with references",
                    found="none",
                    remedy="give --references FILE",
                )
            references |= read_texts(table, request.reference_column, BESIDE, "--reference-column")
    for name in files(request.documents):
        with read(name, kind="document", text=request.column) as reading:
            for record in reading:
                if (reference := references.get(key(record.id))) is None:
                    unmatched.append(record.id)
                    continue
                source, text = prose(record), "\n".join(reference)
                budget = request.words or count_words(text)
                chosen = set(oracle(text, source.texts, source.words, budget))
                figures = rouge(reference, [source.texts[row] for row in sorted(chosen)], ("rouge1", "rouge2"))
                spans, words, shares = source.spans.tolist(), source.words.tolist(), held(text, source.texts).tolist()
                yield {
                    "id": record.id,
                    "budget": budget,
                    **{kind: overlap.f for kind, overlap in figures.items()},
                    "sentences": [
                        {
                            "start": start,
                            "end": end,
                            "words": words[row],
                            "label": int(row in chosen),
                            "held": round(shares[row], 6),
                        }
                        for row, (start, end) in enumerate(spans)
                    ],
                }
