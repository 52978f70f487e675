"""Readers of sequences, and of the containers that they come in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fuzzing import Target

from longseq.errors import InputError, LongseqError
from longseq.formats import read
from longseq.formats.region import pick_each
from longseq.records import Interval

BLOCK = 13
"""Bytes read at a time, so that small files have many ends of blocks."""


class Told(NamedTuple):
    """What a walk gave of a record; of one with a fault, its name alone."""

    id: str
    description: str = ""
    letters: bytes | str | None = None
    more: tuple[object, ...] = ()


def told(path: Path, **options: object) -> tuple[list[Told], InputError | None]:
    """All records, and what ended the walk early."""
    found: list[Told] = []
    try:
        with read(path, **options) as reading:
            for record in reading:
                try:
                    pieces = list(record.pieces)
                except InputError:
                    found.append(Told(record.id))
                    continue
                letters = b"".join(pieces) if record.kind == "dna" else "".join(pieces)
                assert record.length == len(letters)
                more = (record.quality, record.topology, record.truncated, dict(record.notes))
                found.append(Told(record.id, record.description, letters, more))
    except InputError as error:
        return found, error
    return found, None


def walked(path: Path, oracle: Callable[[bytes], list[tuple[str, bytes]]] | None = None) -> None:
    """Every letter of every record: the same whatever is read at a time, whether faults are walked or passed."""
    found, error = told(path)
    again, other = told(path, read_block=BLOCK)
    if error is None and other is None:
        assert found == again
    else:  # whether a file is one of protein is guessed from its first block
        assert any(record.letters is None for record in found) or error is not None
        assert any(record.letters is None for record in again) or other is not None
    told(path, on_unknown="N")
    if error is not None:
        raise error
    with read(path) as reading:
        assert [record.id for record in reading] == [record.id for record in found]
    if oracle is not None and all(isinstance(record.letters, bytes) for record in found):
        assert [(record.id, record.letters) for record in found] == oracle(path.read_bytes())


def _fasta(data: bytes) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.startswith(b">") or (not found and line.strip().startswith(b">")):
            found.append((_name(line.strip()[1:]), b""))
        elif line.strip():
            found[-1] = (found[-1][0], found[-1][1] + line.translate(None, b" \t\r"))
    return found


def _fastq(data: bytes) -> list[tuple[str, bytes]]:
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    found = []
    while lines:
        if lines[0].strip():
            found.append((_name(lines[0].strip()[1:]), b"".join(lines[1:2]).removesuffix(b"\r")))
            del lines[1:4]
        del lines[0]
    return found


def _name(header: bytes) -> str:
    name = b"".join(header.split(None, 1)[:1])
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("latin-1")


def _stretches(path: Path) -> None:
    """Regions, one a line up to an empty one, of the sequences that stand below."""
    asked, _, below = path.read_bytes().partition(b"\n\n")
    regions = [Interval.parse(line) for line in asked.decode("utf-8", "surrogateescape").split("\n")]
    file = path.with_name("below.fa")
    file.write_bytes(below)
    with read(file, kind="dna") as reading:
        for record in pick_each(reading, regions, source=str(file), again=lambda: read(file, kind="dna")):
            deque(record.pieces, maxlen=0)


def _records(name: str, file: str, words: tuple[bytes, ...], **more: object) -> Target:
    return Target(name=name, file=file, read=walked, words=words, error=InputError, **more)


_LINES = (b"\n", b"\r\n", b"\r", b"\t", b"  ", b"\0", b"\xef\xbb\xbf", b"\x1f\x8b", b"ACGTN", b"acgtu", b"EFILPQ")
_FLAT = (*_LINES, b"LOCUS       ", b" bp ", b" aa ", b"ORIGIN\n", b"//\n", b"CONTIG      ", b"        1 ")
SEQUENCES = (
    Target(
        name="fasta",
        file="a.fa",
        read=lambda path: walked(path, _fasta),
        words=(*_LINES, b">", b"\n>", b">a circular=true\n"),
        error=InputError,
    ),
    Target(
        name="fastq",
        file="a.fq",
        read=lambda path: walked(path, _fastq),
        words=(*_LINES, b"@", b"\n+\n", b"\n@", b"I"),
        error=InputError,
    ),
    _records("genbank", "a.gb", (*_FLAT, b"VERSION     ", b"ACCESSION   ", b"circular", b"DEFINITION  ")),
    _records("embl", "a.embl", (*_FLAT, b"ID   ", b"SQ   ", b"AC   ", b"SV   ", b"DE   ", b"; SV 1;", b" BP.", b";")),
    _records("2bit", "a.2bit", (b"\x43\x27\x41\x1a", b"\x1a\x41\x27\x43", b"\1\0\0\0", b"\0\0\0\1", b"\x10\0\0\0")),
    _records("gff3", "a.gff3", (*_LINES, b"##gff-version 3\n", b"##FASTA\n", b">", b"Is_circular=true", b"%3B", b";")),
    _records("sam", "a.sam", (*_LINES, b"@HD\t", b"@SQ\t", b"SN:", b"LN:", b"*", b"16", b"4", b"100M", b"=")),
    _records("bam", "a.bam", (b"BAM\1", b"@SQ\tSN:a\tLN:9\n", b"\x10\0\0\0", b"\1\0\0\0", b"\0\1", b"Z", b"B")),
    _records(
        "containers",
        "a",
        (
            *(b"\x1f\x8b\x08\x04", b"\x1f\x8b\x08\0", b"BC\x02\0", b"BZh9", b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"),
            *(b"\xfd7zXZ\0", b"YZ", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18", b">a\nACGT\n"),
        ),
    ),
    Target(
        name="regions",
        file="a",
        read=_stretches,
        words=(*_LINES, b":", b"-", b",", b"chr", b"\n\n", b">"),
        error=LongseqError,
    ),
)
