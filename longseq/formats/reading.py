"""Open a file of any known format in any known container, and walk its records."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from longseq.errors import InputError, UsageError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream, Container, open_bytes
from longseq.formats.detect import Format, detect
from longseq.formats.letters import OnUnknown
from longseq.records import Kind, Record


class Reading(Iterator[Record]):
    """Records of one source, and what is known about the source while they are read.

    A source without any record is an `InputError` on the first step, never an empty run.
    """

    def __init__(self, stream: ByteStream, format: Format, records: Iterator[Record]):
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
        self._stream.close()

    def __enter__(self) -> Reading:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(
    source: str | Path, *, kind: Kind | None = None, on_unknown: OnUnknown = "error", read_block: int = READ_BLOCK
) -> Reading:
    """Records of a file, a pipe or standard input (`-`): container and format are decided by content.

    A record's pieces can be walked once, before the next record is asked for; what was not walked is skipped. Pieces
    of at most `read_block` letters are handed out while the file is read, so no record of DNA is ever held whole.

    Args:
        kind: overrides what the content says: "dna" or "document" (any text can be read as a document).
        on_unknown: what to do with a letter that is no DNA letter: raise, or read it as N and count it in
            `record.notes["read_as_N"]`.
        read_block: bytes read at a time.

    Raises:
        InputError: the source cannot be opened, is empty, or is of no known format. Faults inside a record raise from
            its pieces; the reader can then be asked for the next record.
    """
    if on_unknown not in ("error", "N"):
        raise UsageError(where="on_unknown", expected="'error' or 'N'", found=repr(on_unknown))
    if kind not in (None, "dna", "document"):
        raise UsageError(where="kind", expected="'dna' or 'document'", found=repr(kind))
    stream = open_bytes(source)
    try:
        format = detect(stream, kind)
        reader = import_module(f"longseq.formats.{format.module}")
        if format.kind == "dna":
            records = reader.records(stream, on_unknown=on_unknown, read_block=read_block)
        else:
            records = reader.records(stream, format=format.name, read_block=read_block)
    except BaseException:
        stream.close()
        raise
    return Reading(stream, format, records)
