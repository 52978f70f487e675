"""What readers of documents share: the one record of a file, and a file that can be read in any order."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator
from typing import BinaryIO

from longseq.errors import InputError, place
from longseq.formats.body import moved_on
from longseq.formats.containers import ByteStream
from longseq.records import Record

LARGEST = 1 << 32
"""Bytes, unpacked, of a file that has to be read in any order."""
IN_MEMORY = 1 << 24
"""Bytes of a pipe or a packed file before they are laid on disk."""


def alone(record: Record, pieces: Iterator[str]) -> Iterator[Record]:
    """The one record of a file, whose text these pieces are; sets its length."""
    over: list[Record] = []
    record.pieces = _guarded(record, pieces, over)
    yield record
    over.append(record)


def _guarded(record: Record, pieces: Iterator[str], over: list[Record]) -> Iterator[str]:
    length = 0
    while True:
        if over:
            raise moved_on(record)
        piece = next(pieces, None)
        if piece is None:
            break
        length += len(piece)
        yield piece
    record.length = length


def ocr(whys: Collection[str]) -> str:
    """The way out for pages without text, by the reasons of `records.Unread`."""
    if set(whys) == {"large"}:
        return "extract its text first: pdftotext IN OUT"
    if not {"image", "garbled"} & set(whys):
        return "copy or download the file again"
    how = "--force-ocr" if "garbled" in whys else "--skip-text"
    return f"run OCR over it first: ocrmypdf {how} IN OUT"


def seekable(stream: ByteStream) -> BinaryIO:
    """The stream's bytes as a file that can be read in any order: itself where it is one, else a temporary copy.

    Raises:
        InputError: more than `LARGEST` bytes, or no room for the copy.
    """
    if stream.container == "plain" and stream.size is not None:
        return open(stream.source, "rb")
    copy = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the caller's to close
    try:
        while piece := stream.read():
            copy.write(piece)
            if copy.tell() > LARGEST:
                raise InputError(
                    where=place(stream.source), expected=f"at most {LARGEST:,} bytes", found="more, unpacked"
                )
    except OSError as error:
        copy.close()
        raise InputError(
            f"cannot be laid aside ({os.strerror(error.errno or 0)})",
            where=place(stream.source),
            remedy="set TMPDIR to a folder with room for the file",
        ) from None
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return copy  # type: ignore[return-value]
