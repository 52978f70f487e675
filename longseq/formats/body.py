"""The lines of nucleotides under a record's header, in pieces, up to the mark that begins the line after them."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.errors import UsageError
from longseq.formats.blocks import Blocks
from longseq.formats.letters import OnUnknown, check, squeeze
from longseq.records import Record

_DIGITS = b"0123456789"


class Body:
    """Walks one record's lines after another; `text` stands at the first line of a record when it is opened.

    Args:
        text: where the lines come from.
        mark: one byte, no letter, that ends a record where it begins a line: `>` of the next header in FASTA, `/` of
            `//` in GenBank and EMBL.
        closed: the mark belongs to the record, so that without it the record is cut.
        numbered: lines carry numbers, and case means nothing (GenBank, EMBL).
    """

    def __init__(
        self, text: Blocks, mark: bytes, on_unknown: OnUnknown, *, closed: bool = False, numbered: bool = False
    ):
        self._text, self._mark, self._on_unknown = text, mark, on_unknown
        self._closed, self._numbered = closed, numbered
        self._now: Record | None = None
        self._inside = False

    def open(self, record: Record) -> Iterator[bytes]:
        """Pieces of `record`, which sets its length and whether it was cut after the last one."""
        self._now, self._inside = record, True
        return self._pieces(record)

    def skip(self) -> None:
        """Pass what was not walked of the record in hand, unchecked."""
        while self._run() is not None:
            pass

    def _pieces(self, record: Record) -> Iterator[bytes]:
        length = 0
        while True:
            if self._now is not record:
                raise moved_on(record)
            line = self._text.line
            run = self._run()
            if run is None:
                break
            if self._numbered:
                run = run.translate(None, _DIGITS)
            letters = squeeze(run)
            if letters:
                letters = check(letters, run, record, length, line, self._on_unknown)
                length += len(letters)
                yield letters.upper() if self._numbered else letters
        if self._closed and record.length not in (None, length) and not self._text.ended:
            record.notes = {**record.notes, "declared_length": record.length}
        record.length = length
        record.truncated = self._cut()

    def _run(self) -> bytes | None:
        """The next stretch of the record's lines as they stand; None when the record is over."""
        text = self._text
        if not self._inside or not text.fill():
            self._inside = False
            return None
        data, at = text.data, text.at
        stop = data.find(self._mark, at)
        if stop < 0:
            stop = len(data)
        elif text.starts_line(stop):
            self._inside = False
        else:
            stop += 1  # a stray mark goes with the letters, where the check finds it
        text.at = stop
        run = data[at:stop]
        text.line += run.count(b"\n")
        return run

    def _cut(self) -> bool:
        text = self._text
        if not self._closed:
            return text.ended and text.stream.truncated
        if text.ended or text.readline() is None:
            return True
        text.skip_blank()
        return text.ended and text.stream.truncated


def moved_on(record: Record) -> UsageError:
    """For pieces that are asked for after the reader went on to another record."""
    return UsageError("the reader has moved on", where=record.where, remedy="walk a record before asking for the next")
