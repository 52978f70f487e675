"""One table alone as the inputs of a run: its rows are the labelled records, or it names the files that hold them."""

from __future__ import annotations

from longseq.errors import InputError
from longseq.formats.table import is_table, read_header, read_table
from longseq.training.labels import beside

FILES = ("path", "file")
"""Columns that name files."""


def settings_of(name: str, *, column: str = "label", text: str | None = None) -> dict[str, object]:
    """The settings, by dotted key, that a lone input stands for; none where it is no table with a column of labels.

    `column` is the one with the labels, `text` the one that is asked for with texts. Texts in the table come before
    files that it names.

    Raises:
        InputError: a row that names no file.
    """
    try:
        header = read_header(name, text) if name != "-" and is_table(name) else None
    except InputError:
        return {}  # its reader says what is wrong
    if header is None or column not in header.columns:
        return {}
    named = next((file for file in FILES if file in header.columns), None)
    if named is None or header.text not in (None, named):
        return {"labels.file": name}
    table = read_table(name, {named})
    for row in table.rows:
        if not row.cells[named]:
            raise InputError(where=table.where(row), expected=f"a file in column {named}", found="none")
    inputs = dict.fromkeys(beside(row.source, row.cells[named]) for row in table.rows)
    return {"inputs": list(inputs), "labels.file": name, "labels.id": named, "labels.by": "file"}
