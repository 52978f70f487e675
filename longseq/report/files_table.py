"""`files.tsv`: a row for each input of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TextIO

from longseq.formats.tsv import TsvWriter
from longseq.results.source import SourceRow
from longseq.results.totals import Totals

FILE = "files.tsv"
FIRST = (
    "sample",
    "file",
    "digest",
    "same_as",
    "kind",
    "format",
    "container",
    "records",
    "length",
    "truncated",
    "failed",
)
"""Columns of every input, then come those of DNA."""
TOTALS = tuple(field.name for field in fields(Totals) if field.name not in ("letters", "duplicate_rows", "truncated"))
LETTERS = "ACGTRYSWKMBDHVN"


def write_files(file: TextIO, sources: Sequence[SourceRow], samples: Sequence[str]) -> None:
    """A line an input, known by its sample's name and by its digest.

    `same_as` names the first sample of equal digest; a figure that an input has not is NA.
    """
    table = TsvWriter(file, (*FIRST, *TOTALS, *(f"letters_{letter}" for letter in LETTERS)))
    first: dict[str, str] = {}
    for source, sample in zip(sources, samples, strict=True):
        row: dict[str, object] = {name: getattr(source, name) for name in FIRST if hasattr(source, name)}
        row["sample"] = sample
        if source.digest is not None:
            twin = first.setdefault(source.digest, sample)
            row["same_as"] = None if twin == sample else twin
        if source.totals is not None:
            row |= {name: getattr(source.totals, name) for name in TOTALS}
            row |= {f"letters_{letter}": source.totals.letters.get(letter, 0) for letter in LETTERS}
        table.write(row)
