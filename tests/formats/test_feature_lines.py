"""Lines of interval files that look like something else, and names that GFF3 spells otherwise."""

import io

import pytest

from longseq.formats.features import read_features
from longseq.formats.gff import gff_line
from longseq.formats.gff3 import Gff3Writer
from longseq.formats.region import pick
from longseq.records import Interval, Record

LOCUS = """LOCUS       X                 40 bp    DNA     linear   UNA 01-JAN-2000
FEATURES             Location/Qualifiers
     CDS             join(1..10, 20..30)
                     /gene="a"
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tracked\t0\t5\tgene\nbrowser2\t0\t3\tgene\n", [("tracked", 0, 5), ("browser2", 0, 3)]),
        ("track\t0\t5\tgene\nbrowser\t0\t3\n", [("track", 0, 5), ("browser", 0, 3)]),
        ("track name=x\nbrowser position a:1-2\na\t0\t5\tgene\n", [("a", 0, 5)]),
        ("1\t2\texon\t5\t9\t.\t+\t.\tgene_id 'x'\n", [("1", 4, 9)]),
        (LOCUS, [("X", 0, 10), ("X", 19, 30)]),
    ],
    ids=[
        "names that begin like headers",
        "names that are words of headers",
        "headers",
        "a source that is a number",
        "a location with a blank",
    ],
)
def test_intervals_are_told_from_what_looks_like_them(tmp_path, text, found):
    (tmp_path / "f").write_text(text)
    features = [feature.interval for feature in read_features(tmp_path / "f")]
    assert [(one.record, one.start, one.end) for one in features] == found


NASTY = ("a b;c", "100%", "x%3By", "tab\there", "ä,é", "a=b&c", ">a")


@pytest.mark.parametrize("name", NASTY)
def test_what_gff3_escapes_is_read_as_it_was(tmp_path, name):
    file = io.StringIO()
    writer = Gff3Writer(file, source=name)
    writer.record(name, 40, circular=True)
    writer.write(Interval(record=name, start=35, end=48, strand="-"), name, attributes={name: name, "pseudo": "true"})
    text = file.getvalue()
    (tmp_path / "x.gff3").write_text(text)
    whole, one, two = read_features(tmp_path / "x.gff3")
    assert (whole.name, whole.interval) == ("region", Interval(record=name, start=0, end=40, strand="."))
    assert [(f.name, f.interval.record, f.interval.start, f.interval.end) for f in (one, two)] == [
        (name, name, 35, 40),
        (name, name, 0, 8),
    ]
    assert one.pseudo and not one.partial
    line = gff_line(text.splitlines()[-1].split("\t"))
    assert line.source == name and line.attributes[name] == (name,)


def test_values_are_parted_before_they_are_read_and_gtf_has_no_escapes(tmp_path):
    cells = ["a%2Fb", "x", "CDS", "5", "9", ".", "+", "0"]
    line = gff_line([*cells, "ID=a%3Bb; Note=1%2C2,3; Is_circular=TRUE;odd"])
    assert line.record == "a/b" and line.circular
    assert line.attributes == {"ID": ("a;b",), "Note": ("1,2", "3"), "Is_circular": ("TRUE",)}
    assert gff_line(cells).record == "a/b" and gff_line([*cells, "."]).record == "a/b"
    assert gff_line(["%zz%", *cells[1:], ""]).record == "%zz%"
    for attributes in ('gene_id "50%25"; pseudo "true"', "g1.t1"):
        (tmp_path / "x").write_text("\t".join([*cells, attributes]) + "\n")
        (feature,) = read_features(tmp_path / "x")
        assert feature.interval.record == "a%2Fb" and not feature.pseudo


def test_a_region_without_places_is_the_whole_record_and_a_part_of_a_circle_is_none():
    def circle():
        return Record(id="c", kind="dna", source="f", index=0, pieces=iter([b"ACGT"]), topology="circular")

    whole, part = (pick([circle()], Interval.parse(name)) for name in ("c", "c:2-3"))
    assert whole.topology == "circular" and "offset" not in whole.notes and b"".join(whole.pieces) == b"ACGT"
    assert part.topology is None and part.notes["offset"] == 1 and b"".join(part.pieces) == b"CG"
