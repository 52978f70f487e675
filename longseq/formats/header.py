"""Header lines of FASTA and FASTQ: the id, then the description."""

from __future__ import annotations

from longseq.errors import InputError, place


def split_header(header: bytes, source: str, line: int) -> tuple[str, str]:
    """Id and description of a header line without its mark: the id is the first word, whole, and may be empty.

    Bytes that are no UTF-8 are taken as Latin-1: a name is never a reason to refuse a sequence.

    Raises:
        InputError: a bare carriage return: the file's lines do not end in line feeds.
    """
    if b"\r" in header:
        raise InputError(
            where=place(source, line),
            expected="lines that end in a line feed",
            found="a bare carriage return in a header",
            remedy="convert the file: tr '\\r' '\\n'",
        )
    words = header.split(None, 1)
    name = words[0] if words else b""
    return decode(name), decode(words[1].rstrip()) if len(words) > 1 else ""


def decode(text: bytes) -> str:
    """UTF-8 where it is, Latin-1 where it is not."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
