"""What a summary claims of its documents, read from its JSON."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longseq.errors import InputError, place
from longseq.formats.jsonfile import parsed
from longseq.results.document import GENERATED
from longseq.results.run import SUMMARY_SCHEMA
from longseq.results.verification import Place

NAME = "summary.json"
"""In a folder that `summarize --out` wrote."""
_FAMILY = SUMMARY_SCHEMA.rpartition("/")[0]
_NAMES = ("file", "index", "id")
"""What names a document."""
LONGEST = 1 << 25
"""Bytes of a summary, which is held: ten times that in memory."""
_MAKE = "make one with longseq summarize --json"
_MOST = 1 << 63
"""Above every place in a text."""


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A sentence and where it is said to stand."""

    rank: int
    place: Place
    text: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A document and what is quoted from it."""

    file: str
    """As the user named it who made the summary."""
    index: int
    """Position in the file."""
    id: str
    length: int
    """Code points of the text."""
    sha256: str | None
    """Of the text."""
    file_sha256: str | None
    """Of the file; None where it was a pipe."""
    extractor: str | None
    text_file: str | None
    """The text as it was, where it was kept."""
    text_folder: str | None
    notes: Mapping[str, Any]
    quotes: tuple[Quote, ...]
    """In the order of the summary; none where its sentences are not from the document."""
    verbatim: bool


def read_claims(source: str) -> list[Claim]:
    """The documents of a summary: what `summarize` printed with `--json` or `--format jsonl`, or the folder it wrote.

    Args:
        source: A file, `-` for standard input, or a folder with a `summary.json`.

    Raises:
        InputError: nothing there, no summary, or none of a document.
    """
    where = place(source)
    records = (record for record in _records(_text(source), where) if record.get("kind") != "dna")
    found = [claim for record in records for claim in _claims(record, where)]
    if not found:
        raise InputError(where=where, expected="a summary of a document", found="none", remedy=_MAKE)
    return found


def _text(source: str) -> str:
    try:
        if source == "-":
            data = sys.stdin.buffer.read(LONGEST + 1)
        else:
            path = Path(source)
            with open(path / NAME if path.is_dir() else path, "rb") as file:
                data = file.read(LONGEST + 1)
    except OSError as error:
        raise InputError(
            (error.strerror or "cannot be read").lower(), where=error.filename or place(source), remedy="check the path"
        ) from None
    if len(data) > LONGEST:
        expected = f"a summary of at most {LONGEST:,} bytes"
        raise InputError(where=place(source), expected=expected, found="more", remedy="verify its documents in parts")
    return data.decode("utf-8", "replace")


def _records(text: str, where: str) -> Iterator[dict[str, Any]]:
    """Of one JSON document its records, of lines each one."""
    try:
        document = parsed(text)
    except ValueError as whole:
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                record = parsed(line)
            except ValueError as error:
                fault = whole if number == 1 else error
                raise InputError(where=where, expected="a summary in JSON", found=str(fault), remedy=_MAKE) from None
            yield from _known(record, where)
    else:
        yield from _known(document, where)


def _known(document: object, where: str) -> list[dict[str, Any]]:
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(schema, str) or schema.rpartition("/")[0] != _FAMILY:
        found = "another document" if schema is None else repr(schema)
        raise InputError(where=where, expected=f"a summary ({SUMMARY_SCHEMA})", found=found, remedy=_MAKE)
    if schema != SUMMARY_SCHEMA:
        raise InputError(
            where=where, expected=SUMMARY_SCHEMA, found=schema, remedy="use the longseq that made it, or a later one"
        )
    return _list(document.get("records", [document]), "records", where)


def _list(value: object, name: str, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(where=where, expected=f"a list of {name}", found=f"{value!r:.60}")
    return value


def _claims(record: dict[str, Any], where: str) -> Iterator[Claim]:
    """One of one document; of many documents together one of each that is quoted from."""
    documents = _list(record.get("documents") or [], "documents", where)
    if not documents:
        yield _claim(record, where)
        return
    rows: dict[tuple, list[Any]] = defaultdict(list)
    for row in _list(record.get("sentences", []), "sentences", where):
        rows[_named(row)].append(row)
    for document in documents:
        yield _claim({**document, "sentences": rows.pop(_named(document), [])}, where)
    if rows:
        found = f"one of {next(iter(rows))}"
        raise InputError(where=where, expected="sentences of the documents that are listed", found=found)


def _named(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Of which document it is."""
    return tuple(repr(row.get(name)) for name in _NAMES)


def _claim(record: dict[str, Any], where: str) -> Claim:
    try:
        verbatim = record.get("method") != GENERATED
        return Claim(
            file=_of(str, record, "file"),
            index=_of(int, record, "index"),
            id=_of(str, record, "id"),
            length=_of(int, record, "length"),
            sha256=_perhaps(str, record, "sha256"),
            file_sha256=_perhaps(str, record, "file_sha256"),
            extractor=_perhaps(str, record, "extractor"),
            text_file=_perhaps(str, record, "text_file"),
            text_folder=_perhaps(str, record, "text_folder"),
            notes=_notes(_perhaps(dict, record, "notes") or {}),
            quotes=tuple(map(_quote, _list(record["sentences"], "sentences", where))) if verbatim else (),
            verbatim=verbatim,
        )
    except (KeyError, TypeError, AttributeError) as error:
        named = f"{where} ({record.get('id')})"
        raise InputError(where=named, expected="a record of a document", found=f"none: {error}") from None


def _notes(notes: dict[str, Any]) -> dict[str, Any]:
    """Those of them that say how to read the document are what they have to be."""
    _perhaps(str, notes, "column"), _perhaps(int, notes, "offset")
    return notes


def _quote(row: dict[str, Any]) -> Quote:
    given = {name: _perhaps(int, row, name) for name in ("byte_start", "byte_end", "page")}
    return Quote(
        rank=_of(int, row, "rank"),
        place=Place(
            start=_of(int, row, "start"), end=_of(int, row, "end"), page_label=_perhaps(str, row, "page_label"), **given
        ),
        text=_of(str, row, "text"),
    )


def _of(kind: type[str] | type[int] | type[dict], row: Mapping[str, Any], name: str) -> Any:
    value: Any = row[name]
    whole = not isinstance(value, int) or 0 <= value < _MOST
    if isinstance(value, bool) or not isinstance(value, kind) or not whole:
        raise TypeError(f"{name} is {value!r:.60}")
    return value


def _perhaps(kind: type[str] | type[int] | type[dict], row: Mapping[str, Any], name: str) -> Any:
    """None where it is not said."""
    return None if row.get(name) is None else _of(kind, row, name)
