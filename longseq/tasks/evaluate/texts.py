"""Summaries and references by id, from whatever they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longseq.errors import InputError, place
from longseq.formats import read
from longseq.formats.containers import open_bytes
from longseq.formats.detect import SAMPLE
from longseq.formats.folders import files
from longseq.formats.jsonfile import parsed
from longseq.formats.rows import as_text
from longseq.formats.table import is_table
from longseq.formats.tabular import open_rows
from longseq.results.run import SUMMARY_SCHEMA
from longseq.tokens.sentences import sentences

BESIDE = ("abstract", "summary", "reference", "highlights")
"""Columns that hold references in the table of their documents, the first one that is there."""
SUMMARIES, REFERENCES = ("summary", "text"), (*BESIDE, "text")
"""Columns that hold texts in a table of their own."""
_SUMMARY_FILE = "summary.json"
_QUOTED = "sentences"
_SUFFIX = re.compile(r"(?<=.)\.(?:txt|text|md|markdown|rst|x?html?|pdf|docx|epub|xml)\Z", re.I)

Texts = dict[str, tuple[str, ...]]
"""By id the sentences of a text."""


def read_texts(source: str, column: str | None, usual: Sequence[str], option: str) -> Texts:
    """The texts of what `summarize --json` wrote, of a table, of documents, or of a folder of these.

    A document in a file of its own has the file's name for an id, without its suffix: `tides.txt` sums up `tides.pdf`.

    Args:
        source: A file, a pattern, or a folder; of a folder that `summarize --out` wrote, its summary.json. `-` may hold
            what `summarize --json` prints.
        column: Of a table; None is the first of `usual` that is there.
        option: By which a user names the column.

    Raises:
        InputError: nothing there, no such column, an id twice.
    """
    if (Path(source) / _SUMMARY_FILE).is_file():
        source = str(Path(source) / _SUMMARY_FILE)
    found: Texts = {}
    for name in files((source,)):
        for where, id, text in _texts(name, column, usual, option):
            if (short := key(id)) in found:
                raise InputError(where=where, expected="an id once", found=f"{short!r} twice")
            found[short] = text
    return found


def key(id: str) -> str:
    """What a summary, a reference and a document have in common: the id, without a document's suffix."""
    return _SUFFIX.sub("", id)


def split(text: str) -> tuple[str, ...]:
    """The sentences of a text."""
    return tuple(sentence.text for sentence in sentences([text]))


def _texts(
    name: str, column: str | None, usual: Sequence[str], option: str
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    if (document := _summary_document(name)) is not None:
        for record in document:
            yield place(name, record=record["id"]), record["id"], _quoted(record)
    elif name == "-":
        raise InputError(
            where=place(name), expected="what `summarize --json` prints", found="something else", remedy="name a file"
        )
    elif is_table(name):
        yield from _rows(name, column, usual, option)
    else:
        with read(name, kind="document") as reading:
            for one in reading:
                yield one.where, one.id, split("".join(one.pieces))  # type: ignore[arg-type]


def _summary_document(name: str) -> list[dict[str, Any]] | None:
    """Records of documents in what `summarize --json` wrote; None of anything else."""
    with open_bytes(name) as stream:
        head = stream.peek(SAMPLE).lstrip()
        if not head.startswith(b"{") or SUMMARY_SCHEMA.encode() not in head[:200]:
            return None
        try:
            records = parsed(b"".join(iter(stream.read, b"")))["records"]
            return [record for record in records if record.get("kind") == "document"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(where=place(name), expected=f"a document of {SUMMARY_SCHEMA}", found=str(error)) from None


def _quoted(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sentence["text"] for sentence in record[_QUOTED])


def _rows(
    name: str, column: str | None, usual: Sequence[str], option: str
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    rows = open_rows(name)
    with_sentences = column is None and usual is SUMMARIES and _QUOTED in rows.columns
    if column is None and not with_sentences:
        column = next((c for c in usual if c in rows.columns), None if usual is BESIDE else rows.text())
    if not with_sentences and (column is None or column not in rows.columns):
        rows.stream.close()
        raise rows.without(column or usual[0], f"name the one with the texts: {option} NAME")
    try:
        for row in rows.walk():
            where = place(name, row.line)
            if row.cut:
                raise InputError("ends early", where=where, remedy="copy or download the file again")
            if row.fault is not None:
                raise row.fault
            if with_sentences:
                yield where, rows.name(row), _quoted(row.cells)
            else:
                cell = row.cells.get(column or "")
                if isinstance(cell, list) and all(isinstance(item, str) for item in cell):
                    yield where, rows.name(row), tuple(cell)
                else:
                    yield where, rows.name(row), split(as_text(cell))
    finally:
        rows.stream.close()
