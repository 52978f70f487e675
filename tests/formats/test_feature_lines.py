"""Lines of interval files that look like something else."""

import pytest

from longseq.formats.features import read_features
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
        ("track name=x\nbrowser position a:1-2\na\t0\t5\tgene\n", [("a", 0, 5)]),
        ("1\t2\texon\t5\t9\t.\t+\t.\tgene_id 'x'\n", [("1", 4, 9)]),
        (LOCUS, [("X", 0, 10), ("X", 19, 30)]),
    ],
    ids=["names that begin like headers", "headers", "a source that is a number", "a location with a blank"],
)
def test_intervals_are_told_from_what_looks_like_them(tmp_path, text, found):
    (tmp_path / "f").write_text(text)
    features = [feature.interval for feature in read_features(tmp_path / "f")]
    assert [(one.record, one.start, one.end) for one in features] == found


def test_a_region_without_places_is_the_whole_record_and_a_part_of_a_circle_is_none():
    def circle():
        return Record(id="c", kind="dna", source="f", index=0, pieces=iter([b"ACGT"]), topology="circular")

    whole, part = (pick([circle()], Interval.parse(name)) for name in ("c", "c:2-3"))
    assert whole.topology == "circular" and "offset" not in whole.notes and b"".join(whole.pieces) == b"ACGT"
    assert part.topology is None and part.notes["offset"] == 1 and b"".join(part.pieces) == b"CG"
