"""A region is the slice of its record, and nothing behind it is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import InputError
from longseq.formats import read
from longseq.formats.region import cut, pick
from longseq.records import Interval, Record

SEQUENCE = b"ACGTACGTTTGGCCAANNAC"
TEXT = b">chr1 first\nACGT\n>chr2 second\n" + SEQUENCE[:9] + b"\n" + SEQUENCE[9:] + b"\n>chr3\nGG!G\n"


@given(st.lists(st.binary(max_size=6), max_size=6), st.integers(0, 40), st.integers(0, 40))
def test_slice_of_any_pieces(pieces, start, size):
    whole = b"".join(pieces)
    record = Record(id="r", kind="dna", source="held", index=0, pieces=iter(pieces))
    part = cut(record, Interval(record="r", start=start, end=start + size))
    if size and 0 < start >= len(whole):
        with pytest.raises(InputError, match="starts before the end"):
            b"".join(part.pieces)
        return
    assert b"".join(part.pieces) == whole[start : start + size]
    assert part.length == len(whole[start : start + size])
    assert part.notes["offset"] == start
    assert ("clipped_end" in part.notes) == (start + size > len(whole))


@pytest.mark.parametrize(
    ("text", "start", "end"), [("chr2:3-12", 2, 12), ("chr2", 0, 20), ("chr2:5", 4, 20), ("chr2:20-20", 19, 20)]
)
def test_picked_by_name(make, text, start, end):
    record = pick(read(make("a.fa", TEXT), read_block=4), Interval.parse(text))
    assert (record.id, record.description, record.line) == ("chr2", "second", 3)
    assert b"".join(record.pieces) == SEQUENCE[start:end]
    assert record.notes.get("offset", 0) == start and record.length in (None, end - start)


def test_end_past_the_end_is_clipped_and_noted(make):
    record = pick(read(make("a.fa", TEXT)), Interval.parse("chr2:11-1,000"))
    assert b"".join(record.pieces) == SEQUENCE[10:]
    assert record.notes == {"offset": 10, "clipped_end": 20}


def test_start_past_the_end(make):
    record = pick(read(make("a.fa", TEXT)), Interval.parse("chr2:21-30"))
    with pytest.raises(InputError, match=r"a\.fa:3 \(chr2\): expected a region .* at 20, found a start at 21"):
        b"".join(record.pieces)


def test_fault_behind_the_region_is_not_met(make):
    record = pick(read(make("a.fa", TEXT), read_block=4), Interval.parse("chr3:1-1"))
    assert b"".join(record.pieces) == b"G"


def test_missing_name_lists_near_ones(make):
    path = make("a.fa", TEXT)
    with pytest.raises(
        InputError, match=rf"^{path}: expected a record named 'chr22', found 3 others; did you mean chr2"
    ):
        pick(read(path), Interval.parse("chr22:1-5"))
    with pytest.raises(InputError, match=r"found 3 others; names in it: chr1, chr2, chr3$"):
        pick(read(path), Interval.parse("contig"))


def test_a_suggested_name_can_be_given_as_it_stands(make):
    path = make("a.fa", b">HLA:01:02\nAC\n>c:5\nGG\n")
    with pytest.raises(InputError, match=r"found 2 others; did you mean HLA:01:02:1-\?$"):
        pick(read(path), Interval.parse("HLA:01:02"))
    assert b"".join(pick(read(path), Interval.parse("HLA:01:02:1-")).pieces) == b"AC"
    with pytest.raises(InputError, match=r"found 1 other; names in it: c:5:1-$"):
        pick(read(make("b.fa", b">c:5\nGG\n")), Interval.parse("c:5"))


def test_quality_is_cut_too(make):
    record = pick(read(make("a.fq", b"@r\nACGTAC\n+\nABCDEF\n")), Interval.parse("r:2-4"))
    assert b"".join(record.pieces) == b"CGT" and record.quality == b"BCD"


def test_truncation_and_unknown_letters_pass_through(make, pack):
    path = make("a.fa", pack("bgzf", b">r\nAC!T\n")[:-28])
    record = pick(read(path, on_unknown="N"), Interval.parse("r:2"))
    assert b"".join(record.pieces) == b"CNT"
    assert record.truncated and record.notes == {"offset": 1, "read_as_N": 1}


NAMED = b">gi|1|ref|NC_000001.1|\nACGT\n>1\nGG\n>plasmid\nTTT\n"


@pytest.mark.parametrize(("text", "letters"), [("NC_000001:2-3", b"CG"), ("chr1", b"GG"), ("main:1-2", b"TT")])
def test_another_spelling_is_found_when_the_very_name_is_not_there(make, caplog, text, letters):
    path = make("a.fa", NAMED)
    record = pick(read(path), Interval.parse(text), alias=[("main", "plasmid")], again=lambda: read(path))
    assert b"".join(record.pieces) == letters
    said = f"a.fa: note: names matched: {Interval.parse(text).record} is {record.id}"
    assert len(caplog.messages) == 1 and caplog.messages[0].endswith(said)


def test_the_very_name_comes_before_all_that_are_like_it(make):
    path = make("a.fa", b">chr1\nA\n>Chr1\nC\n>1\nG\n")
    assert pick(read(path), Interval.parse("1"), again=lambda: read(path)).id == "1"
    with pytest.raises(
        InputError, match="one record for 'CHR1', found 'chr1', 'Chr1', '1'; say which with --alias FILE"
    ):
        pick(read(path), Interval.parse("CHR1"), again=lambda: read(path))


def test_what_cannot_be_read_twice_names_the_other_spelling(make):
    with pytest.raises(InputError, match=r"did you mean gi\|1\|ref\|NC_000001\.1\|\?$"):
        pick(read(make("a.fa", NAMED)), Interval.parse("NC_000001"))


def test_end_past_the_end_is_an_error_where_it_must_not_be(make):
    record = pick(read(make("a.fa", TEXT)), Interval.parse("chr2:11-21"), strict=True)
    with pytest.raises(
        InputError, match=r"a\.fa:3 \(chr2\): expected a region that ends at 20 or before, found an end at 21"
    ):
        b"".join(record.pieces)
    for text in ("chr2:11-20", "chr2:11-"):
        record = pick(read(make("a.fa", TEXT)), Interval.parse(text), strict=True)
        assert b"".join(record.pieces) == SEQUENCE[10:]
