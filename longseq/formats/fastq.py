"""FASTQ in its usual form: four lines a read, Phred+33 (Cock et al. 2010, Nucleic Acids Research 38:1767)."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.containers import ByteStream
from longseq.formats.header import decode, split_header
from longseq.formats.letters import OnUnknown, check
from longseq.records import Record

LONGEST_READ = 1 << 26
"""Letters of one read; reads are held whole, as their quality stands behind them. The longest ones have a few Mb."""

_QUALITIES = bytes(range(33, 127))


def records(stream: ByteStream, *, on_unknown: OnUnknown = "error", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """Reads in file order, each with its quality. A last read that is not whole is given as `truncated`.

    Raises:
        InputError: a line that is not where four-line FASTQ has it. Faults inside a read (an illegal letter, a quality
            of another length) raise from its pieces, and the reader can go on with the next one.
    """
    text, index = Blocks(stream, read_block), 0
    text.skip_mark()
    while True:
        text.skip_blank()
        line = text.line
        header = text.readline()
        if header is None:
            return
        if not header.startswith(b"@"):
            raise InputError(
                where=place(stream.source, line),
                expected="a FASTQ header that begins with '@'",
                found=repr(decode(header[:20])),
                remedy="records must have four lines each",
            )
        name, description = split_header(header[1:], stream.source, line)
        letters = text.readline(LONGEST_READ)
        plus = text.readline()
        if plus is not None and not plus.startswith(b"+"):
            raise InputError(
                where=place(stream.source, line + 2, name),
                expected="a line that begins with '+'",
                found=repr(decode(plus[:20])),
                remedy="records must have four lines each",
            )
        quality = text.readline(LONGEST_READ) if plus is not None else None
        letters = letters or b""
        if plus is not None and not letters:
            quality = quality or b""  # the empty line of an empty read may lack its line feed
        cut = quality is None or (not text.whole_line and len(quality) < len(letters))
        record = Record(
            id=name,
            kind="dna",
            source=stream.source,
            index=index,
            pieces=iter(()),
            description=description,
            line=line,
            case_is_mask=True,
            length=len(letters),
            quality=None if cut else quality,
            truncated=cut or (not text.fill() and stream.truncated),
        )
        record.pieces = _pieces(record, letters, on_unknown, read_block)
        yield record
        index += 1


def _pieces(record: Record, letters: bytes, on_unknown: OnUnknown, read_block: int) -> Iterator[bytes]:
    quality, line = record.quality, record.line or 0
    if quality is not None and len(quality) != len(letters):
        raise InputError(
            where=place(record.source, line + 3, record.id),
            expected=f"a quality for each of {len(letters)} letters",
            found=str(len(quality)),
        )
    if quality is not None and (bad := quality.translate(None, _QUALITIES)):
        raise InputError(
            where=place(record.source, line + 3, record.id),
            expected="qualities from '!' to '~'",
            found=f"byte 0x{bad[:1].hex()}",
        )
    for at in range(0, len(letters), read_block):
        piece = letters[at : at + read_block]
        yield check(piece, piece, record, at, line + 1, on_unknown)
