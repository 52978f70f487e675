"""Header lines of FASTA and FASTQ: the id, then the description."""

from __future__ import annotations

from longseq.errors import InputError


def split_header(header: bytes, where: str) -> tuple[str, str]:
    """Id and description of a header line without its mark: the id is the first word, whole, and may be empty.

    Bytes that are no UTF-8 are taken as Latin-1: a name is never a reason to refuse a sequence.

    Raises:
        InputError: a bare carriage return: the file's lines do not end in line feeds.
    """
    if b"\r" in header:
        raise InputError(
            where=where,
            expected="lines that end in a line feed",
            found="a bare carriage return in a header",
            remedy="convert the file: tr '\\r' '\\n'",
        )
    name, _, description = header.strip().replace(b"\t", b" ").partition(b" ")
    return decode(name), decode(description.strip())


def decode(text: bytes) -> str:
    """UTF-8 where it is, Latin-1 where it is not."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
