"""GenBank and EMBL: the same records as Biopython, streamed."""

import gzip
import io
from pathlib import Path

import pytest
from Bio import SeqIO

from longseq.errors import AlphabetError, InputError
from longseq.formats import read

DATA = Path(__file__).parents[2] / "data"

TOY = b"""LOCUS       TOY%(n)d                      8 bp    DNA     circular BCT 01-JAN-2020
DEFINITION  A toy,
            in two lines.
ACCESSION   XX_000001 XX_000002
VERSION     XX_000001.%(n)d  GI:1
FEATURES             Location/Qualifiers
     source          1..8
                     /note="ORIGIN LOCUS // VERSION     nothing"
ORIGIN
        1 acgtnr
        7 yk
//
"""

TOY_EMBL = b"""ID   X56734; SV 2; circular; genomic DNA; STD; BCT; 12 BP.
XX
AC   X56734; S46826;
DE   A toy,
DE   in two lines.
SQ   Sequence 12 BP; 3 A; 3 C; 3 G; 3 T; 0 other;
     acgtacgtac                                                               10
     gt                                                                       12
//
"""


def toys(count: int) -> bytes:
    return b"\n".join(TOY % {b"n": n + 1} for n in range(count))


@pytest.mark.parametrize("name", ["T4.gbff.gz", "chloroplast.gb.gz"])
@pytest.mark.parametrize("format", ["genbank", "embl"])
def test_same_as_biopython(make, name, format):
    with gzip.open(DATA / name, "rt") as file:
        (expected,) = SeqIO.parse(file, "genbank")
    path = str(DATA / name)
    if format == "embl":
        text = io.StringIO()
        SeqIO.write(expected, text, "embl")
        path = make("a.embl", text.getvalue().encode())
    reading = read(path)
    assert reading.format.name == format
    (record,) = (found := list(_with_letters(reading)))
    record, letters = record
    assert letters == bytes(expected.seq)
    assert record.id == expected.id
    assert record.description == expected.description
    assert record.topology == expected.annotations["topology"]
    assert record.length == len(expected)
    assert not record.case_is_mask and not record.truncated and record.notes == {}
    assert len(found) == 1


def _with_letters(reading):
    for record in reading:
        yield record, b"".join(record.pieces)


@pytest.mark.parametrize("read_block", [1, 2, 7, 1 << 18])
@pytest.mark.parametrize("crlf", [False, True])
def test_several_records(make, read_block, crlf):
    text = b"BCT1.SEQ   Genetic Sequence Data Bank\n\n" + toys(3)
    text = text.replace(b"\n", b"\r\n") if crlf else text
    reading = read(make("a", text), read_block=read_block)
    assert reading.format.name == "genbank"
    got = [(r.id, r.description, r.topology, r.line, r.index, s, r.truncated) for r, s in _with_letters(reading)]
    description = "A toy, in two lines"
    assert got == [(f"XX_000001.{n + 1}", description, "circular", 3 + 13 * n, n, b"ACGTNRYK", False) for n in range(3)]


@pytest.mark.parametrize("read_block", [1, 7, 1 << 18])
def test_embl(make, read_block):
    reading = read(make("a", TOY_EMBL + TOY_EMBL), read_block=read_block)
    assert reading.format.name == "embl"
    got = [(r.id, r.description, r.topology, s, r.notes) for r, s in _with_letters(reading)]
    assert got == [("X56734.2", "A toy, in two lines", "circular", b"ACGTACGTACGT", {})] * 2


def test_old_embl(make):
    text = TOY_EMBL.replace(
        b"X56734; SV 2; circular; genomic DNA; STD; BCT; 12 BP.",
        b"TOY standard; circular DNA; BCT; 12 BP.\nSV   X56734.3",
    )
    (record,) = read(make("a", text))
    assert (record.id, record.topology, record.length) == ("X56734.3", "circular", 12)


def test_names_when_lines_are_missing(make):
    text = toys(1)
    version = b"VERSION     XX_000001.1  GI:1\n"
    accession = b"ACCESSION   XX_000001 XX_000002\n"
    assert next(read(make("a", text.replace(version, b"")))).id == "XX_000001"
    assert next(read(make("b", text.replace(version, b"VERSION\n")))).id == "XX_000001"
    assert next(read(make("c", text.replace(version, b"").replace(accession, b"")))).id == "TOY1"


def test_topology_is_never_guessed(make):
    assert next(read(make("a", toys(1).replace(b"circular", b"        ")))).topology is None


def test_skipped_records(make):
    assert [r.id for r in read(make("a", toys(3)))] == ["XX_000001.1", "XX_000001.2", "XX_000001.3"]


def test_length_that_is_not_the_declared_one_is_noted(make):
    (record,) = [r for r, _ in _with_letters(read(make("a", toys(1).replace(b" 8 bp", b" 9 bp"))))]
    assert record.length == 8
    assert record.notes == {"declared_length": 9}


@pytest.mark.parametrize("read_block", [1, 1 << 18])
def test_illegal_letter(make, read_block):
    reading = read(make("a.gb", toys(1).replace(b"7 yk", b"7 y!") + toys(1)), read_block=read_block)
    with pytest.raises(AlphabetError, match=r"a\.gb:11 \(XX_000001\.1\): .* found '!' at base 8; --on-unknown N"):
        b"".join(next(reading).pieces)
    assert [s for _, s in _with_letters(reading)] == [b"ACGTNRYK"]


def test_records_without_letters_of_their_own(make):
    contig = toys(1).split(b"ORIGIN")[0] + b"CONTIG      join(XX_000009.1:1..8)\n//\n"
    protein = toys(1).replace(b"8 bp", b"8 aa")
    reading = read(make("a.gb", contig + protein + toys(1)))
    with pytest.raises(InputError, match=r"a\.gb:1 .*found none, only a pointer to other records; .*gbwithparts"):
        b"".join(next(reading).pieces)
    with pytest.raises(InputError, match=r"expected DNA letters, found protein"):
        b"".join(next(reading).pieces)
    assert [s for _, s in _with_letters(reading)] == [b"ACGTNRYK"]


def test_something_else_between_records(make):
    with pytest.raises(InputError, match=r"a\.gb:13: expected LOCUS or ID, which begin a record, found 'ACGT'"):
        list(read(make("a.gb", toys(1) + b"ACGT\n")))


@pytest.mark.parametrize("stop", [b"DEFINITION", b"FEATURES", b"ORIGIN", b"nr\n", b"//\n"])
def test_file_cut_inside_a_record(make, stop):
    whole = toys(1)
    cut = whole[: whole.rindex(stop)] if stop != b"nr\n" else whole[: whole.index(stop)]
    found = list(_with_letters(read(make("a.gb", toys(1) + cut))))
    assert [r.truncated for r, _ in found] == [False, True]
    expected = {b"nr\n": b"ACGT", b"//\n": b"ACGTNRYK"}.get(stop, b"")
    assert found[1][1] == expected and found[1][0].length == len(expected)


def test_container_cut_behind_a_record(make, pack):
    path = make("a.gb", pack("bgzf", toys(2) + b"\n")[:-28])
    assert [r.truncated for r, _ in _with_letters(read(path))] == [False, True]
