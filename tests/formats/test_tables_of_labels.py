"""Tables and intervals that label records: what is read, and how what cannot be read is said."""

import gzip
from pathlib import Path

import pytest

from longseq.errors import InputError
from longseq.formats.bed import BedWriter
from longseq.formats.features import read_features
from longseq.formats.table import read_table
from longseq.records import Interval


def test_tables(tmp_path):
    wanted = [(2, {"id": "a", "genus": "E. coli, K-12", "n": "1"}), (4, {"id": "b", "genus": "", "n": "2"})]
    (tmp_path / "t.tsv").write_bytes("﻿id\tgenus\tn\r\na\tE. coli, K-12\t1\r\n\r\nb\t\t 2\r\n".encode())
    (tmp_path / "t.csv").write_text('id,genus,n\na,"E. coli, K-12",1\n\nb,,2')
    (tmp_path / "t.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    for name in ("t.tsv", "t.csv", "t.gz"):
        table = read_table(tmp_path / name)
        assert table.columns == ("id", "genus", "n")
        assert [(row.line, row.cells) for row in table.rows] == wanted
    assert table.where(table.rows[1]) == f"{tmp_path / 't.gz'}:4"


@pytest.mark.parametrize(("content", "message"), [
    (b"", "is empty"),
    (b"\n\n", "t:1: expected a header line with names of columns, found none"),
    (b"id,label\n", "expected rows below the header line, found none"),
    (b"id,label\na,b\nc\n", r"t:3: expected 2 cells \(id, label\), found 1"),
    (b"id,id\na,b\n", "t:1: expected names of columns once each, found 'id' twice"),
    (b"id,\na,b\n", "t:1: expected a name of column 2, found none"),
    (b"id,label\na,\xff\n", "t:2: expected UTF-8 text, found byte 0xff"),
    (gzip.compress(b"id,label\n" * 9999)[:-20], "ends early"),
])  # fmt: skip
def test_tables_that_are_none(tmp_path, content, message):
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / "t")


def flat(path):
    return [(f.line, f.interval.record, f.interval.start, f.interval.end, f.interval.strand, f.name)
            for f in read_features(path)]  # fmt: skip


def test_intervals_of_bed_and_of_gff_are_the_same(tmp_path):
    (tmp_path / "f.bed").write_text("track name=x\nc1\t0\t10\tCDS\t0\t-\n#\nc 2\t5\t5\ttRNA\t0\t+\nc1\t7\t9\trRNA")
    (tmp_path / "f.gff").write_text(
        "##gff-version 3\nc1\tus\tCDS\t1\t10\t.\t-\t0\tID=1\n#\nc 2\tus\ttRNA\t6\t5\t.\t+\t.\tx\n"
        "c1\tus\trRNA\t8\t9\t.\t.\t.\tID=2\n##FASTA\n>c1\nACGT\n"
    )
    wanted = [(2, "c1", 0, 10, "-", "CDS"), (4, "c 2", 5, 5, "+", "tRNA"), (5, "c1", 7, 9, ".", "rRNA")]
    assert flat(tmp_path / "f.bed") == flat(tmp_path / "f.gff") == wanted
    (tmp_path / "three.bed").write_text("c1 3 4\n")
    assert flat(tmp_path / "three.bed") == [(1, "c1", 3, 4, ".", ".")]


@pytest.mark.parametrize(("content", "message"), [
    ("# nothing\n", r"expected intervals \(BED, GFF3, GTF or GenBank\), found none"),
    ("c1\t5\n", "f:1: expected record, start and end, found 2 columns"),
    ("c1\t0\t5\nc1\t5\t4\n", "f:2: expected 0 <= start <= end, found '5', '4'"),
    ("c1\tstart\tend\n", "f:1: expected 0 <= start <= end, found 'start', 'end'"),
    ("c1\tus\tCDS\t0\t10\t.\t-\t0\tID=1\n", "f:1: expected 1 <= start <= end, found '0', '10'"),
    ("c1\tus\tCDS\t1\t10\t.\t-\t0\tID=1\nc1\tus\tCDS\t1\n", "f:2: expected nine columns of GFF, found 4"),
])  # fmt: skip
def test_intervals_that_are_none(tmp_path, content, message):
    (tmp_path / "f").write_text(content)
    with pytest.raises(InputError, match=message):
        list(read_features(tmp_path / "f"))


GENBANK = """LOCUS       X1  100 bp DNA linear
ACCESSION   X1
VERSION     X1.2
FEATURES             Location/Qualifiers
     source          1..100
                     /organism="this: 1..5 is no location"
     CDS             complement(join(<3..10,
                     12..>20))
                     /note="a
                     join(1..2)"
     tRNA            join(complement(30..31),J00194.1:5..9,40)
     site            50^51
ORIGIN
        1 acgtacgtac
//
LOCUS       X2  10 bp DNA
FEATURES             Location/Qualifiers
     gene            order(1..4,6..7)
//
"""


def test_features_of_genbank(tmp_path):
    (tmp_path / "g.gb").write_text(GENBANK)
    assert flat(tmp_path / "g.gb") == [
        (5, "X1.2", 0, 100, "+", "source"),
        (7, "X1.2", 2, 10, "-", "CDS"),
        (7, "X1.2", 11, 20, "-", "CDS"),
        (11, "X1.2", 29, 31, "-", "tRNA"),
        (11, "X1.2", 39, 40, "+", "tRNA"),
        (18, "X2", 0, 4, "+", "gene"),
        (18, "X2", 5, 7, "+", "gene"),
    ]
    (tmp_path / "g.gb").write_text(GENBANK.replace("1..100", "here"))
    with pytest.raises(InputError, match=r"g\.gb:5: expected a location of source, 1 <= start <= end, found 'here'"):
        flat(tmp_path / "g.gb")


def test_features_of_a_genome_are_those_of_biopython():
    from Bio import SeqIO

    path = Path(__file__).parents[2] / "data" / "T4.gbff.gz"
    with gzip.open(path, "rt") as file:
        wanted = [
            (record.id, int(part.start), int(part.end), "-" if part.strand == -1 else "+", feature.type)
            for record in SeqIO.parse(file, "genbank")
            for feature in record.features
            for part in feature.location.parts
        ]
    assert sorted(x[1:] for x in flat(path)) == sorted(wanted) and len(wanted) > 500


CIRCLE = """##gff-version 3
##sequence-region p 1 100
p\tus\tregion\t1\t100\t.\t+\t.\tID=p;Is_circular=true
p\tus\tCDS\t91\t110\t.\t-\t0\tID=1
p\tus\tCDS\t100\t100\t.\t+\t0\tID=2
"""


def test_features_across_an_origin_come_in_two(tmp_path):
    (tmp_path / "c.gff").write_text(CIRCLE)
    assert flat(tmp_path / "c.gff") == [
        (3, "p", 0, 100, "+", "region"),
        (4, "p", 90, 100, "-", "CDS"),
        (4, "p", 0, 10, "-", "CDS"),
        (5, "p", 99, 100, "+", "CDS"),
    ]
    joined = "LOCUS       p  100 bp DNA circular\nFEATURES\n     CDS             complement(join(91..100,1..10))\n"
    (tmp_path / "c.gb").write_text(joined + "     tRNA            join(100,1..3)\n//\n")
    assert [x[2:] for x in flat(tmp_path / "c.gb")] == [
        (90, 100, "-", "CDS"), (0, 10, "-", "CDS"), (99, 100, "+", "tRNA"), (0, 3, "+", "tRNA"),
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["101\t110", "91\t191"])
def test_features_that_begin_behind_an_origin_or_run_around_it_twice(tmp_path, place):
    (tmp_path / "c.gff").write_text(CIRCLE.replace("91\t110", place))
    with pytest.raises(InputError, match=r"c\.gff:4: expected a feature that begins on p and runs around it once"):
        flat(tmp_path / "c.gff")


def test_an_end_past_a_landmark_that_is_no_circle_is_left_to_who_knows_the_record(tmp_path):
    (tmp_path / "c.gff").write_text(CIRCLE.replace(";Is_circular=true", ""))
    assert flat(tmp_path / "c.gff")[1] == (4, "p", 90, 110, "-", "CDS")


def test_gtf(tmp_path):
    (tmp_path / "a.gtf").write_text('#!genome\nc1\tus\texon\t5\t5\t.\t-\t.\tgene_id "g"; transcript_id "t";\n')
    assert flat(tmp_path / "a.gtf") == [(2, "c1", 4, 5, "-", "exon")]


def test_bed_of_one_base_comes_back(tmp_path):
    wanted = [Interval(record="c1", start=0, end=1, strand="+"), Interval(record="c1", start=2**40, end=2**40 + 1)]
    with open(tmp_path / "a.bed", "w") as file:
        for interval in wanted:
            BedWriter(file).write(interval, "CDS", 1000)
    assert [(f.interval, f.name) for f in read_features(tmp_path / "a.bed")] == [(i, "CDS") for i in wanted]
