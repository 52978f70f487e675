"""FASTA: records of any length, handed out in pieces while the file is read; no record is ever held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from longseq.errors import InputError, UsageError, place
from longseq.formats.blocks import Blocks
from longseq.formats.containers import ByteStream
from longseq.formats.letters import OnUnknown, check, squeeze
from longseq.records import Record


def records(stream: ByteStream, *, on_unknown: OnUnknown = "error", read_block: int = 1 << 18) -> Iterator[Record]:
    """Records in file order; pieces have at most `read_block` letters.

    Any line lengths, CRLF, blank lines, blanks inside lines and lower case are taken; ids may be empty or repeated.
    Letters of a record that nobody walks are skipped without a check.

    Raises:
        InputError: letters before the first `>`. An illegal letter raises from the pieces, and the reader can go on
            with the next record.
    """
    return _Reader(Blocks(stream, read_block), on_unknown).records()


class _Reader:
    def __init__(self, text: Blocks, on_unknown: OnUnknown):
        self._text, self._on_unknown = text, on_unknown
        self._now: Record | None = None
        self._inside = False

    def records(self) -> Iterator[Record]:
        text, index = self._text, 0
        self._seek_first()
        while True:
            line = text.line
            header = text.readline()
            if header is None:
                return
            name, description = split_header(header[1:], text, line)
            record = Record(
                id=name,
                kind="dna",
                source=text.stream.source,
                index=index,
                pieces=iter(()),
                description=description,
                line=line,
                topology=_topology(description),
            )
            self._now, self._inside = record, True
            record.pieces = self._pieces(record)
            yield record
            while self._run() is not None:
                pass
            record.truncated = text.ended and text.stream.truncated
            index += 1

    def _seek_first(self) -> None:
        text = self._text
        if text.fill() and text.data.startswith(b"\xef\xbb\xbf"):
            text.at = 3
        while text.fill():
            rest = text.data[text.at :].lstrip(b" \t\r\n")
            at = len(text.data) - len(rest)
            text.line += text.data.count(b"\n", text.at, at)
            text.at = at
            if rest:
                break
        else:
            return
        if text.data[text.at : text.at + 1] != b">":
            raise InputError(
                where=place(text.stream.source, text.line),
                expected="a FASTA header that begins with '>'",
                found=_quoted(rest),
                remedy="put a line such as '>name' above the letters, or read it as text with --kind document",
            )

    def _pieces(self, record: Record) -> Iterator[bytes]:
        text, length = self._text, 0
        while True:
            if self._now is not record:
                raise UsageError(
                    "the reader has moved on", where=record.where, remedy="walk a record before asking for the next"
                )
            line = text.line
            run = self._run()
            if run is None:
                break
            letters, _ = squeeze(run)
            if letters:
                letters = check(letters, run, record, length, line, self._on_unknown)
                length += len(letters)
                yield letters
        record.length = length
        record.truncated = text.ended and text.stream.truncated

    def _run(self) -> bytes | None:
        """The next stretch of the record's lines as they stand; None when the record is over."""
        text = self._text
        if not self._inside or not text.fill():
            self._inside = False
            return None
        data, at = text.data, text.at
        stop = data.find(b">", at)
        if stop < 0:
            stop = len(data)
        elif text.starts_line(stop):
            self._inside = False
        else:
            stop += 1  # the stray '>' goes with the letters, where the check finds it
        text.at = stop
        run = data[at:stop]
        text.line += run.count(b"\n")
        return run


def split_header(header: bytes, text: Blocks, line: int) -> tuple[str, str]:
    """Id (up to the first white space) and description of a header line without its mark.

    Raises:
        InputError: the line holds a bare carriage return: the file's lines do not end in line feeds.
    """
    if b"\r" in header:
        raise InputError(
            where=place(text.stream.source, line),
            expected="lines that end in a line feed",
            found="a bare carriage return in a header",
            remedy="convert the file: tr '\\r' '\\n'",
        )
    parts = header.split(None, 1)
    name = parts[0] if parts else b""
    description = parts[1].rstrip() if len(parts) > 1 else b""
    return _decoded(name), _decoded(description)


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _topology(description: str) -> Literal["circular", "linear"] | None:
    """What assemblers (`circular=true`) and NCBI (`[topology=circular]`) write into a header; None otherwise."""
    words = description.lower().replace(";", " ").split()
    if "circular=true" in words or "[topology=circular]" in words or "topology=circular" in words:
        return "circular"
    if "[topology=linear]" in words or "topology=linear" in words:
        return "linear"
    return None


def _quoted(text: bytes) -> str:
    line = text.split(b"\n", 1)[0].strip()[:20]
    return repr(line.decode("utf-8", "replace"))
