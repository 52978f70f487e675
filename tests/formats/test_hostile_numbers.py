"""Numbers, places and lines that look like what a format asks for, and are not."""

import struct

import pytest

from longseq.errors import InputError, LongseqError, UsageError
from longseq.formats import read
from longseq.formats.features import read_features
from longseq.formats.locations import located
from longseq.formats.vcf_writer import vcf_output
from longseq.records import Interval, coordinate


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("0" * 5000 + "7", 7),
        ("9223372036854775807", 2**63 - 1),
        *(
            (text, None)
            for text in ("", "-1", "+1", "1.0", "1_0", " 1", "\u0663", "\u00b2", "9223372036854775808", "9" * 5000)
        ),
    ],
)
def test_a_coordinate_is_ascii_digits_below_2_to_the_63(text, number):
    assert coordinate(text) == number


@pytest.mark.parametrize("row", ["a\t\u0661\t\u0665\n", "a\t1\t9223372036854775808\n"])
def test_other_digits_and_larger_places_are_no_interval(tmp_path, row):
    (tmp_path / "a.bed").write_text(row, encoding="utf-8")
    with pytest.raises(InputError, match="expected 0 <= start <= end"):
        list(read_features(tmp_path / "a.bed"))


def test_a_region_ends_below_2_to_the_63():
    with pytest.raises(UsageError, match="START <= END"):
        Interval.parse("a:2-9223372036854775808")
    assert Interval.parse("a:\u0663").record == "a:\u0663"


@pytest.mark.parametrize(
    ("text", "parts", "read"),
    [
        ("complement(join(2..5,8..12))", [(1, 5, "-"), (7, 12, "-")], [1, 0]),
        ("join(complement(join(1..2,3..4)),5)", [(0, 2, "-"), (2, 4, "-"), (4, 5, "+")], [1, 0, 2]),
        ("complement(join(complement(1..2),3..4))", [(0, 2, "+"), (2, 4, "-")], [1, 0]),
        ("order(<1..>2,J1.1:3..4,5^6)", [(0, 2, "+")], [0]),
    ],
)
def test_each_complement_of_a_location_turns_what_is_in_it(text, parts, read):
    found = located(text)
    assert (found.parts, found.read) == (parts, read)


@pytest.mark.parametrize(
    "text", ["", "join(1..5;7..9)", "1..5x", "(1.5)..10", "join(1..5", "1..5)", "1,2", "5..1", "0..1"]
)
def test_no_part_of_a_broken_location_is_passed_over(text):
    with pytest.raises(ValueError):
        located(text)


def test_a_line_that_is_packed_a_thousand_times_is_refused(tmp_path):
    """Blocks of one byte, 128 KiB each (RFC 8878, section 3.1.1.2)."""
    blocks = (struct.pack("<I", 131072 << 3 | 2)[:3] + b"A") * 600 + b"\1\0\0"
    (tmp_path / "a.fq.zst").write_bytes(b"\x28\xb5\x2f\xfd\0\x58\x18\0\0@a\n" + blocks)
    with pytest.raises(InputError, match="at most 600 times its size"):
        list(read(tmp_path / "a.fq.zst"))


def test_an_error_is_no_longer_than_people_read():
    text = str(LongseqError(where="a" * 10**6, expected="b", found="c" * 10**6 + "\ud800\u2028"))
    assert len(text) < 4000 and text.endswith("\\ud800\\u2028") and len(text.splitlines()) == 1


def test_rows_that_no_tbi_can_speak_of_get_another_index_or_none(tmp_path):
    head = ["##fileformat=VCFv4.5", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    for position, info, suffixes in (("1", "END=600000000", {".csi"}), (str(2**62), ".", set())):
        out = tmp_path / f"{position}.vcf.gz"
        with vcf_output(out) as writer:
            writer.header(head)
            writer.row(["a", position, ".", "A", "C", ".", ".", info])
        assert {path.suffix for path in tmp_path.glob(f"{position}.vcf.gz.*")} == suffixes
