"""Texts to learn nothing from: what a model will be judged on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from longseq.errors import InputError
from longseq.formats.table import is_table, read_header, read_table
from longseq.tokens.sentences import sentences


@dataclass(frozen=True)
class Excluded:
    """Sentences, white space aside, and ids of documents."""

    sentences: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()

    def __contains__(self, sentence: str) -> bool:
        return bool(self.sentences) and _plain(sentence) in self.sentences

    def digest(self) -> str:
        """Of what is left out."""
        lines = [*sorted(self.sentences), "", *sorted(self.ids)]
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def read_excluded(names: Iterable[str]) -> Excluded:
    """What these files name: tables (JSON lines, CSV, TSV …) with a column `text`, or without one the ids of documents
    in a column `id`; of any other file each line is a text.

    A text stands for each of its sentences.

    Raises:
        InputError: a file that cannot be read, holds nothing, or is a table with neither column.
    """
    found, ids = set[str](), set[str]()
    for name in names:
        column, cells = _cells(name)
        if column == "id":
            ids.update(cells)
        else:
            found.update(_plain(sentence.text) for cell in cells for sentence in sentences([cell]))
    return Excluded(frozenset(found), frozenset(ids))


def excluded_texts(names: Iterable[str]) -> list[str]:
    """The texts in these files, in order; those that name ids have none.

    Raises:
        InputError: as `read_excluded`.
    """
    tables = map(_cells, names)
    return [cell for column, cells in tables if column == "text" for cell in cells if cell.strip()]


def _cells(name: str) -> tuple[str, list[str]]:
    """Of a file `text` or `id`, and what stands there."""
    column = "text"
    if is_table(name):
        columns = read_header(name).columns
        if not {"text", "id"} & set(columns):
            raise InputError(where=name, expected="a column text, or id", found="neither")
        column = "text" if "text" in columns else "id"
        cells = [row.cells[column] for row in read_table(name, {column}).rows]
    else:
        try:
            cells = Path(name).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise InputError(where=name, expected="UTF-8 text", found=str(error)) from None
    if not any(cell.strip() for cell in cells):
        raise InputError(where=name, expected=f"{column}s to leave out", found="none")
    return column, cells


def _plain(text: str) -> str:
    return " ".join(text.split())
