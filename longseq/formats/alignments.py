"""BAM, CRAM and SAM: reads as the sequencer gave them, aligned or not (SAM specification, section 1.4).

Whatever holds the file is unpacked here, and htslib reads the rest through a pipe: standard input, a packed SAM and a
BAM on disk are one case. Letters that SAM does not know come as N, as htslib reads them.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longseq.errors import InputError, UsageError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream
from longseq.formats.letters import OnUnknown, check
from longseq.records import Record, reverse_complement

if TYPE_CHECKING:
    from pysam import AlignedSegment

_PIECE = 1 << 16
"""Bytes handed on at a time: what a pipe holds."""
_WAIT = 1.0
"""Seconds to wait for a thread that may be waiting for a pipe; for a file it never does."""
_NOT_FIRST = 0x100 | 0x800
"""Flags of secondary and supplementary alignments, which repeat a read that stands elsewhere."""
MATES = ("first of a pair", "last of a pair")
"""Descriptions of the reads of a pair, which have one name."""
_PAIRED, _FIRST_OF_PAIR, _LAST_OF_PAIR = 0x1, 0x40, 0x80
_HEADER = 1 << 20
"""Bytes in which the header of a CRAM ends."""
_PHRED = bytes(min(score, 93) + 33 for score in range(256))
_CRAM_END = b"\x0f\xe0EOF\0"
"""In the last container of every CRAM (CRAM specification 3.1, section 9)."""
_CRAM_LEFT = {2: 22, 3: 30}
"""Bytes from there to the end, by version."""


def records(stream: ByteStream, *, on_unknown: OnUnknown = "error", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """Reads in file order, each once, in its own direction, with its quality where there is one.

    Secondary and supplementary alignments are passed over. The reads of a pair have one name; their descriptions say
    which is which. Case means nothing in these formats.

    Raises:
        InputError: a file that htslib cannot read, as CRAM without the reference that it was written against. That is
            looked for where the file says (UR), and by digest where REF_PATH says; no index is written beside it.
        UsageError: pysam is not installed.
    """
    index = 0
    for read in _reads(stream):
        if read.flag & _NOT_FIRST:
            continue
        letters = (read.query_sequence or "").encode()
        scores = read.query_qualities
        quality = None if scores is None or not letters else bytes(scores).translate(_PHRED)
        if read.is_reverse:
            letters = reverse_complement(letters)
            quality = None if quality is None else quality[::-1]
        record = Record(
            id=_name(read, stream.source),
            kind="dna",
            source=stream.source,
            index=index,
            pieces=iter(()),
            description=_description(read.flag),
            case_is_mask=False,
            length=len(letters),
            quality=quality,
        )
        record.pieces = _pieces(record, letters, on_unknown, read_block)
        yield record
        index += 1


def _name(read: AlignedSegment, source: str) -> str:
    try:
        return "" if read.query_name in (None, "*") else read.query_name
    except UnicodeDecodeError as error:
        found = f"byte 0x{error.object[error.start]:02x}"
        raise InputError(where=place(source), expected="names of reads in ASCII", found=found) from None


def _description(flag: int) -> str:
    if not flag & _PAIRED:
        return ""
    ends = flag & (_FIRST_OF_PAIR | _LAST_OF_PAIR)
    return {_FIRST_OF_PAIR: MATES[0], _LAST_OF_PAIR: MATES[1]}.get(ends, "")


def _pieces(record: Record, letters: bytes, on_unknown: OnUnknown, read_block: int) -> Iterator[bytes]:
    for at in range(0, len(letters), read_block):
        piece = letters[at : at + read_block]
        yield check(piece, piece, record, at, None, on_unknown)


def _reads(stream: ByteStream) -> Iterator[AlignedSegment]:
    """All alignments; of a container that was cut, those that are whole."""
    try:
        import pysam
    except ImportError:
        raise UsageError(
            "BAM, CRAM and SAM are read through pysam, which is not installed",
            where=place(stream.source),
            remedy="pip install pysam, or convert the file: samtools fastq",
        ) from None
    before = pysam.set_verbosity(0)  # htslib would talk on stderr
    scratch = tempfile.TemporaryDirectory()
    reference = _reference(stream, Path(scratch.name)) if stream.peek(4) == b"CRAM" else None
    end, start = os.pipe()
    feeder = _Feeder(stream, start)
    feeder.start()
    file: Any = None
    problem: Exception | None = None
    try:
        with open(end, "rb", buffering=0) as pipe:
            file = pysam.AlignmentFile(pipe, "r", check_sq=False, check_header=False, reference_filename=reference)
        yield from file.fetch(until_eof=True)
    except (OSError, ValueError) as error:
        problem = error
    finally:
        if file is not None:
            with suppress(OSError):  # said once is enough
                file.close()
        feeder.join(_WAIT if stream.size is None else None)
        pysam.set_verbosity(before)
        scratch.cleanup()
    if feeder.fault is not None:
        raise feeder.fault
    if problem is not None and not stream.truncated:
        cram = "convert it with the reference that it was written against: samtools fastq --reference FASTA"
        raise InputError(
            where=place(stream.source),
            expected="reads that htslib can decode",
            found=str(problem),
            remedy=cram if feeder.cram else "copy or download the file again",
        )


def _reference(stream: ByteStream, folder: Path) -> str | None:
    """The reference that a CRAM names, where it lies here, by another path: htslib writes an index beside it."""
    import pysam

    start = folder / "start.cram"
    start.write_bytes(stream.peek(_HEADER))
    try:
        with pysam.AlignmentFile(str(start), check_sq=False) as file:
            rows = file.header.to_dict().get("SQ", [])
    except (OSError, ValueError):  # said when it is read
        return None
    names = (row.get("UR", "").removeprefix("file:").removeprefix("//") for row in rows)
    found = next((Path(name).absolute() for name in dict.fromkeys(names) if name and os.path.isfile(name)), None)
    if found is None:
        return None
    for suffix in ("", ".fai", ".gzi"):
        beside = Path(f"{found}{suffix}")
        if beside.exists():
            (folder / beside.name).symlink_to(beside)
    return str(folder / found.name)


class _Feeder(threading.Thread):
    """Unpacks a stream into a pipe."""

    def __init__(self, stream: ByteStream, end: int):
        super().__init__(daemon=True)
        self._stream, self._end = stream, end
        start = stream.peek(5)
        self.cram, self._version = start.startswith(b"CRAM"), start[-1]
        self.fault: Exception | None = None
        """Why the stream could not be read to its end."""

    def run(self) -> None:
        tail = b""
        try:
            with open(self._end, "wb") as pipe:
                while piece := self._stream.read(_PIECE):
                    pipe.write(piece)
                    tail = (tail + piece)[-64:]
                if self.cram and len(tail) - tail.rfind(_CRAM_END) != _CRAM_LEFT.get(self._version, 30):
                    self._stream.truncated = True
        except BrokenPipeError:
            pass  # whoever reads has seen enough
        except Exception as error:
            self.fault = error
