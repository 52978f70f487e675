"""Documents and the sentences of their summaries as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from longseq.results.document import DocumentSummary

DOCUMENTS = {
    "file": "string",
    "index": "int64",
    "id": "string",
    "description": "string",
    "length": "int64",
    "words": "int64",
    "sentences_total": "int64",
    "pages": "int64",
    "coverage": "float64",
    "truncated": "bool",
    "method": "string",
    "summary_words": "int64",
    "summary": "string",
}
"""Columns of documents, and their types; `length` is code points, `summary` the sentences, a line each."""
SENTENCES = {
    "file": "string",
    "index": "int64",
    "id": "string",
    "rank": "int64",
    "start": "int64",
    "end": "int64",
    "byte_start": "int64",
    "byte_end": "int64",
    "page": "int64",
    "page_label": "string",
    "section": "string",
    "score": "float64",
    "text": "string",
}
"""Columns of sentences, and their types; places are code points of the document's text, from 0, the end excluded."""


def document_row(summary: DocumentSummary) -> dict[str, Any]:
    """A document by `DOCUMENTS`."""
    text = "\n".join(" ".join(row.text.split()) for row in summary.sentences)
    return {name: getattr(summary, name) for name in DOCUMENTS if name != "summary"} | {"summary": text}


def sentence_rows(summary: DocumentSummary) -> Iterator[dict[str, Any]]:
    """The sentences of a summary by `SENTENCES`, in document order."""
    for row in summary.sentences:
        own = {name: getattr(row, name) for name in SENTENCES}
        yield own if row.file is not None else own | {name: getattr(summary, name) for name in ("file", "index", "id")}
