"""The texts of a report card, from files, and the teacher it is about."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from longseq.errors import InputError, place
from longseq.formats import read
from longseq.formats.folders import files
from longseq.formats.rows import as_text
from longseq.formats.tabular import open_rows
from longseq.model import Checkpoint, load
from longseq.tasks.convert.card.agreement import Labelled, too_few_classes
from longseq.tasks.convert.keep import convert
from longseq.tasks.convert.source import Source

DOCUMENTS, LETTERS = 10_000, 1 << 18
"""Documents that are read at most, and code points of each."""
LABEL = "label"
_EMPTY = re.compile(r"\s*\Z")


def read_texts(paths: Sequence[str], column: str | None = None) -> list[str]:
    """The beginnings of the documents of files, folders and tables (`column` is that of a table), those that say
    something.

    Raises:
        InputError: a file that cannot be read, or nothing that says something.
    """
    found: list[str] = []
    for name in files(paths):
        with read(name, kind="document", text=column) as reading:
            for record in reading:
                text = _beginning(record.pieces)  # type: ignore[arg-type]
                if not _EMPTY.match(text):
                    found.append(text)
                if len(found) == DOCUMENTS:
                    return found
    if not found:
        raise InputError(where=", ".join(paths), expected="a text", found="none")
    return found


def _beginning(pieces: Iterator[str]) -> str:
    found, length = [], 0
    for piece in pieces:
        found.append(piece)
        length += len(piece)
        if length >= LETTERS:
            break
    return "".join(found)[:LETTERS]


def read_labelled(file: str, label: str = LABEL, column: str | None = None) -> Labelled:
    """A table's texts that have a class, in its column `label`.

    Raises:
        InputError: no table, no such column, or fewer than two classes of two texts.
    """
    rows = open_rows(file)
    try:
        text = rows.text(column)
        if text is None:
            raise rows.without(column or "text", "name the one with the texts")
        if label not in rows.columns:
            raise rows.without(label, "name the one with the classes")
        texts, labels = [], []
        for row in rows.walk((text, label)):
            if row.fault is not None:
                raise row.fault
            if row.cut:
                raise InputError("ends early", where=place(file, row.line), remedy="copy or download the file again")
            pair = as_text(row.cells.get(text)), as_text(row.cells.get(label))
            if all(part.strip() for part in pair):
                texts.append(pair[0])
                labels.append(pair[1])
    finally:
        rows.stream.close()
    classes = [name for name, number in Counter(labels).items() if number > 1]
    if len(classes) < 2:
        raise too_few_classes(file, classes)
    return Labelled(file=file, texts=texts, labels=labels)


@contextmanager
def teacher_of(source: Source, student: Checkpoint) -> Iterator[Checkpoint]:
    """The teacher with its softmax kept, read in the student's segments; it is written to a folder that is gone
    afterwards.

    Raises:
        CheckpointError, UsageError: as `convert` does.
    """
    with tempfile.TemporaryDirectory(prefix="longseq-") as folder:
        path = Path(folder) / "teacher"
        if convert(replace(source, segment=None), path).model.config.segment != student.config.segment:
            convert(replace(source, segment=student.config.segment), path, force=True)
        found = load(path, student.model.encoder.embedding.weight.device)
        yield replace(found, name=source.model)
