"""Open a file of any known format in any known container, and walk its records."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from longseq.errors import InputError, UsageError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import Container, open_bytes
from longseq.formats.detect import detect
from longseq.formats.folders import shards
from longseq.formats.known import ARROW, TABLES, Format
from longseq.formats.letters import OnUnknown
from longseq.formats.rows import Rows, Source
from longseq.formats.tabular import arrow_rows, opened, records
from longseq.records import Kind, Record


class Reading(Iterator[Record]):
    """Records of one source, and what is known about the source while they are read.

    A source without any record is an `InputError` on the first step, never an empty run.
    """

    def __init__(self, stream: Source, format: Format, records: Iterator[Record]):
        self._stream, self._records, self._any = stream, records, False
        self.source: str = stream.source
        self.container: Container = stream.container
        self.format: Format = format

    @property
    def kind(self) -> Kind:
        return self.format.kind

    @property
    def truncated(self) -> bool:
        """The container ended too early; final after the last record."""
        return self._stream.truncated

    @property
    def position(self) -> int:
        """Bytes of the source taken so far, still compressed: for progress against `size`."""
        return self._stream.position

    @property
    def size(self) -> int | None:
        """Bytes of the source, still compressed; None for a pipe."""
        return self._stream.size

    def __next__(self) -> Record:
        try:
            record = next(self._records)
        except StopIteration:
            self._stream.close()
            if not self._any:
                raise InputError(
                    f"holds no {self.format.name} record", where=place(self.source), remedy="check what the file is"
                ) from None
            raise
        except BaseException:
            self._stream.close()
            raise
        self._any = True
        return record

    def close(self) -> None:
        if isinstance(self._records, Generator):
            self._records.close()  # a reader may have a thread that reads the stream
        self._stream.close()

    def __enter__(self) -> Reading:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(
    source: str | Path,
    *,
    kind: Kind | None = None,
    text: str | None = None,
    on_unknown: OnUnknown = "error",
    read_block: int = READ_BLOCK,
) -> Reading:
    """Records of a file, a pipe or standard input (`-`): container and format are decided by content; CSV and TSV by
    name. A folder that `datasets.Dataset.save_to_disk` wrote is read as one source.

    A record's pieces can be walked once, before the next record is asked for; what was not walked is skipped. Pieces
    of at most `read_block` letters are handed out while the file is read, so no record of DNA is ever held whole. Of a
    table (CSV, TSV, JSON lines, Parquet, Arrow) each row is a record, held whole, named by its column `id`, else by the
    file's name and the row's number; its first text says whether it holds DNA or documents.

    Args:
        kind: overrides what the content says: "dna" or "document" (any text can be read as a document).
        text: column of a table that holds the texts; None: `text`, else `sequence`, else the only one of text.
        on_unknown: what to do with a letter that is no DNA letter: raise, or read it as N and count it in
            `record.notes["read_as_N"]`.
        read_block: bytes read at a time.

    Raises:
        InputError: the source cannot be opened, is empty, is of no known format, or a table without such a column.
            Faults inside a record raise from its pieces; the reader can then be asked for the next record.
    """
    if on_unknown not in ("error", "N"):
        raise UsageError(where="on_unknown", expected="'error' or 'N'", found=repr(on_unknown))
    if kind not in (None, "dna", "document"):
        raise UsageError(where="kind", expected="'dna' or 'document'", found=repr(kind))
    wanted = {"text": text, "kind": kind, "on_unknown": on_unknown, "read_block": read_block}
    if parts := shards(source):
        return _table(arrow_rows(str(source), parts), ARROW, wanted)
    stream = open_bytes(source)
    try:
        format = detect(stream, kind)
        if format in TABLES:
            return _table(opened(stream, format, read_block=read_block), format, wanted)
        reader = import_module(f"longseq.formats.{format.module}")
        if format.kind == "dna":
            found = reader.records(stream, on_unknown=on_unknown, read_block=read_block)
        else:
            stream.require_text()
            found = reader.records(stream, format=format.name, read_block=read_block)
    except BaseException:
        stream.close()
        raise
    return Reading(stream, format, found)


def _table(rows: Rows, format: Format, wanted: dict[str, Any]) -> Reading:
    kind, found = records(rows, format, **wanted)
    return Reading(rows.stream, format._replace(kind=kind), found)
